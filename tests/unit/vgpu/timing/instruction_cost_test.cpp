// Costs of single instructions.
#include "common/vgpu/timing/instruction_cost.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "common/ptx/parser.h"

namespace roofwalk::vgpu {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Packing takes a PRMT for each part of a word but the first; the words of a 64-bit value are separate registers.
TEST(InstructionCost, OfAMoveIsThatOfItsParts) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .b16 %h<5>;\n.reg .b32 %r<3>;\n"
      ".reg .b64 %rd<3>;\nmov.b32 %r1, {%h1, %h2};\nmov.b32 {%h1, %h2}, %r1;\nmov.b64 %rd1, {%h1, %h2, %h3, %h4};\n"
      "mov.b64 %rd1, {%r1, %r2};\nmov.b32 %r1, %r2;\nret;\n}\n",
      "kernel.cu");
  ASSERT_TRUE(module.ok()) << module.error().text();
  const auto& code = module->functions[0].instructions;
  const int issues[] = {1, 1, 2, 0, 0};
  for (std::size_t i = 0; i < std::size(issues); ++i) EXPECT_EQ(cost_of(code[i]).issues, issues[i]) << i;
}

// The forms-*.ptx files list all accepted forms. Each form must run in the unit that its row of the opcode table names,
// or in another unit named by that row.
TEST(InstructionCost, HasTheUnitsOfItsRow) {
  std::set<std::string> seen, differences;
  for (const auto& entry : fs::directory_iterator(fs::path(ROOFWALK_TEST_SOURCE_DIR) / "tests/ptx/parse")) {
    if (!entry.path().filename().string().starts_with("forms-")) continue;
    const auto module = ptx::parse(text_of(entry.path()), entry.path().filename().string());
    ASSERT_TRUE(module.ok()) << module.error().text();
    for (const ptx::Function& function : module->functions) {
      for (const ptx::Instruction& in : function.instructions) {
        const Cost cost = cost_of(in);
        if (cost.issues == 0) continue;  // a move that vanishes
        const ptx::OpcodeInfo& row = ptx::info(in.opcode);
        seen.emplace(row.mnemonic);
        const bool named =
            cost.unit == ptx::unit_of(row.units, in.type) || (ptx::info(row.units).besides & ptx::bit(cost.unit)) != 0;
        if (!named) differences.insert(std::string(row.mnemonic) + std::string(ptx::type_name(in.type)));
      }
    }
  }
  for (const std::string& difference : differences) ADD_FAILURE() << difference;
  for (const char* mnemonic : {"brev", "clz", "cvt", "match", "redux"})
    EXPECT_TRUE(seen.contains(mnemonic)) << mnemonic;
}

}  // namespace
}  // namespace roofwalk::vgpu
