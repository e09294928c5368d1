// What the book says of an instruction's unit is the unit that the clock takes.
#include "common/vgpu/timing/instruction_cost.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "common/ptx/parser.h"
#include "common/ptx/supported.h"

namespace roofwalk::vgpu {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const char* words_of(Unit unit) {
  switch (unit) {
    case Unit::fp32:
      return "FP32";
    case Unit::half:
      return "FP16";
    case Unit::integer:
      return "integer lanes";
    case Unit::multiply:
      return "integer multipliers";
    case Unit::fp64:
      return "FP64";
    case Unit::special:
      return "special function lanes";
    case Unit::tensor:
      return "tensor cores";
    case Unit::memory:
      return "loads and stores";
    case Unit::constant:
      return "indexed constants";
    case Unit::control:
      return "control";
  }
  return "";
}

// The last cell of the page's row for a mnemonic.
std::string issued_by(const std::string& page, std::string_view mnemonic) {
  const std::size_t row = page.find("\n| `" + std::string(mnemonic) + "` |");
  if (row == std::string::npos) return "";
  const std::size_t end = page.find('\n', row + 1), cell = page.rfind("| ", end - 3);
  return page.substr(cell + 2, end - cell - 4);
}

// Of words, each part but the first takes a PRMT; of 64 bits, words are registers of their own.
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

// In all forms that are accepted, which stand in these files.
TEST(InstructionCost, HasTheUnitsOfTheBooksTable) {
  const std::string page = ptx::supported_page();
  std::set<ptx::Opcode> seen;
  std::set<std::string> differences;
  for (const auto& entry : fs::directory_iterator(fs::path(ROOFWALK_TEST_SOURCE_DIR) / "tests/ptx/parse")) {
    if (!entry.path().filename().string().starts_with("forms-")) continue;
    const auto module = ptx::parse(text_of(entry.path()), entry.path().filename().string());
    ASSERT_TRUE(module.ok()) << module.error().text();
    for (const ptx::Function& function : module->functions) {
      for (const ptx::Instruction& in : function.instructions) {
        const Cost cost = cost_of(in);
        if (cost.issues == 0) continue;  // it vanishes
        seen.insert(in.opcode);
        const std::string_view mnemonic = ptx::info(in.opcode).mnemonic;
        const std::string cell = issued_by(page, mnemonic);
        if (cell.find(words_of(cost.unit)) == std::string::npos) {
          differences.insert(std::string(mnemonic) + ": " + words_of(cost.unit) + ", not \"" + cell + "\"");
        }
      }
    }
  }
  for (const std::string& difference : differences) ADD_FAILURE() << difference;
  for (const char* mnemonic : {"brev", "clz", "cvt", "match", "redux"}) {
    bool found = false;
    for (const ptx::Opcode opcode : seen) found = found || ptx::info(opcode).mnemonic == mnemonic;
    EXPECT_TRUE(found) << mnemonic;
  }
}

}  // namespace
}  // namespace roofwalk::vgpu
