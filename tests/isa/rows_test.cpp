// Every row of the opcode table is executed by a test that is about it.
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

TEST(OpcodeTable, EveryRowHasAnExecutionTest) {
  for (const ptx::Opcode row : ptx::all_opcodes()) {
    EXPECT_TRUE(tested_rows().contains(row)) << "no ROW_TEST is about `" << ptx::info(row).mnemonic << "`";
  }
}

}  // namespace
}  // namespace roofwalk::isa
