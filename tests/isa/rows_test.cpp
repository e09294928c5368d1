// Every row of the opcode table has an execution test, and every form that the parser accepts can be executed.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/program/program.h"
#include "tests/isa/row.h"

namespace roofwalk::isa {
namespace {

TEST(OpcodeTable, EveryRowHasAnExecutionTest) {
  for (const ptx::Opcode row : ptx::all_opcodes()) {
    EXPECT_TRUE(tested_rows().contains(row)) << "no ROW_TEST is about `" << ptx::info(row).mnemonic << "`";
  }
}

// tests/ptx/parse/forms-*.ptx list the forms, one per line. Each form is lowered in a kernel of its own, so that every
// form is checked.
TEST(Forms, CanBeExecutedWhereTheyAreAccepted) {
  const std::filesystem::path folder = std::filesystem::path(ROOFWALK_TEST_SOURCE_DIR) / "tests/ptx/parse";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("forms-")) continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    auto module = ptx::parse(text, "kernel.cu");
    ASSERT_TRUE(module.ok()) << module.error().text();
    ++files;
    ptx::Function& kernel = module->functions.back();
    ASSERT_FALSE(kernel.unsupported) << kernel.unsupported->text();
    const std::vector<ptx::Instruction> all = kernel.instructions;
    for (const ptx::Instruction& one : all) {
      const bool is_load = one.opcode == ptx::Opcode::Ld, is_store = one.opcode == ptx::Opcode::St;
      const bool by_register = (is_load && one.operands[1].index >= 0) || (is_store && one.operands[0].index >= 0);
      if (by_register && one.space == ptx::Space::param) continue;  // stores: refused, no compiler generates them
      if (ptx::info(one.opcode).form == ptx::Form::call) continue;
      kernel.instructions = {one};
      const std::vector<std::uint8_t> arguments(32);
      const auto program = vgpu::lower({.module = &*module,
                                        .function = &kernel,
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1},
                                        .arguments = arguments,
                                        .address_of = [](const std::string&) { return std::uint64_t{0}; }});
      EXPECT_TRUE(program.ok()) << name << ": " << program.error().message;
    }
  }
  EXPECT_GE(files, 12);
}

}  // namespace
}  // namespace roofwalk::isa
