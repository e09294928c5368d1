// Compares the registers that decide a warp's path with a search that follows each register forward.
#include "common/vgpu/program/operands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace roofwalk::vgpu {
namespace {

constexpr int kProgramRegisters = 10;

ptx::Module parse_body(const std::string& body) {
  auto module = ptx::parse(
      fmt::format(".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<4>;\n"
                  ".reg .b64 %rd<2>;\n.reg .b32 %r<{}>;\n{}ret;\n}}\n",
                  kProgramRegisters, body),
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  return module ? std::move(*module) : ptx::Module{};
}

// Whether a branch reads the register, or a value derived from it.
bool decides(const ptx::Function& function, int reg) {
  std::vector<bool> made(function.registers.size());
  made[static_cast<std::size_t>(reg)] = true;
  for (std::size_t pass = 0; pass < function.instructions.size(); ++pass) {
    for (const ptx::Instruction& in : function.instructions) {
      bool reads = false;
      for_each_source(in, [&](int source) { reads = reads || made[static_cast<std::size_t>(source)]; });
      if (!reads) continue;
      if (chooses_way(in)) return true;
      for_each_result(in, [&](int result) { made[static_cast<std::size_t>(result)] = true; });
    }
  }
  return false;
}

TEST(Operands, RegistersThatDecideAreThoseWhoseValuesComeToABranch) {
  Rng rng(3);
  const auto reg = [&] { return rng.next() % kProgramRegisters; };
  for (int round = 0; round < 100; ++round) {
    std::string body;
    for (int i = 0; i < 8; ++i) {
      switch (rng.next() % 5) {
        case 0:
          body += fmt::format("mul.lo.u32 %r{}, %r{}, 3;\n", reg(), reg());
          break;
        case 1:
          body += fmt::format("setp.eq.u32 %p{}, %r{}, %r{};\n", rng.next() % 4, reg(), reg());
          break;
        case 2:
          body += fmt::format("@%p{} mov.u32 %r{}, %r{};\n", rng.next() % 4, reg(), reg());
          break;
        default:
          body += fmt::format("add.u32 %r{}, %r{}, %r{};\n", reg(), reg(), reg());
      }
    }
    if (round % 4 != 0) body += fmt::format("@%p{} bra L;\nL:\n", rng.next() % 4);
    const ptx::Module module = parse_body(body);
    const ptx::Function& function = module.functions.at(0);
    const std::vector<bool> found = registers_that_decide(function, States::followed);
    for (std::size_t r = 0; r < function.registers.size(); ++r)
      EXPECT_EQ(found[r], decides(function, static_cast<int>(r))) << body << function.registers[r].name;
  }
}

// The result of the first atomic comes to a branch by way of memory; that of the second is the guard of an access; that
// of the third is stored where nothing that decides is loaded; that of the last is used by nothing.
TEST(Operands, ValuesDecideThroughMemoryAndGuards) {
  const auto decides = [](const std::string& more) {
    const ptx::Module module = parse_body("atom.global.add.u32 %r1, [%rd1], 1;\n" + more);
    const ptx::Function& function = module.functions.at(0);
    const int reg = function.instructions.at(0).operands.at(0).index;
    return static_cast<bool>(registers_that_decide(function, States::followed).at(static_cast<std::size_t>(reg)));
  };
  EXPECT_TRUE(
      decides("st.global.u32 [%rd0], %r1;\nld.global.u32 %r2, [%rd0];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nL:\n"));
  EXPECT_TRUE(decides("setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd0], %r2;\n"));
  const std::string test_r2 = "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nL:\n";
  EXPECT_TRUE(decides("setp.eq.u32 %p1, %r1, 0;\n@%p1 exit;\n"));
  EXPECT_TRUE(decides("atom.global.exch.b32 %r2, [%rd0], %r1;\n" + test_r2)) << "by what another atomic reads";
  EXPECT_TRUE(decides("red.global.add.u32 [%rd0], %r1;\nld.global.u32 %r2, [%rd0];\n" + test_r2));
  EXPECT_FALSE(decides("st.global.u32 [%rd0], %r1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nL:\n"));
  EXPECT_FALSE(decides("add.u32 %r2, %r1, 1;\n"));
}

// The registers, by name, that the body of a kernel may read unwritten.
std::vector<std::string> read_unwritten(const std::string& body) {
  const ptx::Module module = parse_body(body);
  const ptx::Function& kernel = module.functions.at(0);
  std::vector<std::string> out;
  const std::vector<BasicBlock> blocks = find_blocks(kernel);
  for (const int reg : registers_read_unwritten(BlockUses(kernel, blocks), blocks, {}))
    out.push_back(kernel.registers[static_cast<std::size_t>(reg)].name);
  return out;
}

TEST(Operands, RegistersReadUnwrittenAreThoseThatSomePathReadsFirst) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(read_unwritten("mov.u32 %r1, 0;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r1, %r2, %r1;\n"), Names{});
  EXPECT_EQ(read_unwritten("add.u32 %r2, %r1, 1;\nmov.u32 %r1, 0;\n"), Names{"%r1"});
  EXPECT_EQ(read_unwritten("add.u32 %r1, %r1, 1;\n"), Names{"%r1"});
  const std::string condition = "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 0;\n";
  EXPECT_EQ(read_unwritten(condition + "@%p1 bra L;\nmov.u32 %r1, 0;\nL:\nmov.u32 %r2, %r1;\n"), Names{"%r1"});
  EXPECT_EQ(read_unwritten(condition + "mov.u32 %r1, 7;\n@%p1 bra L;\nmov.u32 %r1, 0;\nL:\nmov.u32 %r2, %r1;\n"),
            Names{});
  EXPECT_EQ(read_unwritten(condition + "@%p1 mov.u32 %r1, 7;\nmov.u32 %r2, %r1;\n"), Names{"%r1"});
  EXPECT_EQ(read_unwritten(condition + "L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra L;\n"),
            Names{"%r1"});
  EXPECT_EQ(read_unwritten(condition + "mov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 9;\n"
                                       "@%p2 bra L;\n"),
            Names{});
  EXPECT_EQ(read_unwritten("bra L;\nmov.u32 %r2, %r1;\nL:\n"), Names{});  // nothing leads there
  // Each block leads to the one before it in the text.
  EXPECT_EQ(read_unwritten("bra C;\nA:\nmov.u32 %r2, %r1;\nret;\nB:\nbra A;\nC:\nbra B;\n"), Names{"%r1"});
}

}  // namespace
}  // namespace roofwalk::vgpu
