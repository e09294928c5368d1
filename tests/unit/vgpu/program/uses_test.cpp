// Instructions whose results come to nothing, by hand.
#include "common/vgpu/program/uses.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace roofwalk::vgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the mnemonics of the instructions that have no use.
std::vector<std::string> unused(const std::string& body, const std::vector<std::string>& handed = {}) {
  const auto module = ptx::parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b64 %rd<4>;\n"
      ".reg .f32 %f<9>;\n.reg .b32 %r<9>;\n" +
          body + "ret;\n}\n",
      "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  if (!module) return {};
  const ptx::Function& function = module->functions[0];
  std::vector<int> registers;
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    for (const std::string& name : handed) {
      if (function.registers[i].name == name) registers.push_back(static_cast<int>(i));
    }
  }
  const std::vector<BasicBlock> blocks = find_blocks(function);
  const auto used = instructions_with_use(function, blocks, BlockUses(function, blocks), registers);
  if (!used) return {"too much"};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < used->size(); ++i) {
    if (!(*used)[i]) out.emplace_back(ptx::info(function.instructions[i].opcode).mnemonic);
  }
  return out;
}

TEST(Uses, AChainThatEndsInNothingHasNone) {
  EXPECT_THAT(unused("ex2.approx.f32 %f1, %f2;\nfma.rn.f32 %f3, %f1, %f1, %f1;\nneg.f32 %f4, %f3;\n"
                     "add.f32 %f5, %f2, %f2;\nst.global.f32 [%rd1], %f5;\n"),
              ElementsAre("ex2", "fma", "neg"));
}

TEST(Uses, AValueThatIsOverwrittenHasNone) {
  EXPECT_THAT(unused("fma.rn.f32 %f1, %f2, %f2, %f2;\nmov.f32 %f1, %f2;\nst.global.f32 [%rd1], %f1;\n"),
              ElementsAre("fma"));
  // In another basic block, on each way.
  EXPECT_THAT(unused("fma.rn.f32 %f1, %f2, %f2, %f2;\n@%p1 bra L;\nmov.f32 %f1, %f2;\nbra E;\nL:\nneg.f32 %f1, %f2;\n"
                     "E:\nst.global.f32 [%rd1], %f1;\n"),
              ElementsAre("fma"));
  EXPECT_THAT(
      unused("fma.rn.f32 %f1, %f2, %f2, %f2;\n@%p1 bra E;\nmov.f32 %f1, %f2;\nE:\nst.global.f32 [%rd1], %f1;\n"),
      IsEmpty());
  EXPECT_THAT(unused("fma.rn.f32 %f1, %f2, %f2, %f2;\n@%p1 mov.f32 %f1, %f2;\nst.global.f32 [%rd1], %f1;\n"),
              IsEmpty());
}

TEST(Uses, ASumThatOnlyALoopReadsHasNone) {
  const std::string loop =
      "L:\nfma.rn.f32 %f1, %f2, %f2, %f1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n"
      "@%p1 bra L;\n";
  EXPECT_THAT(unused(loop), ElementsAre("fma"));
  EXPECT_THAT(unused(loop + "st.global.f32 [%rd1], %f1;\n"), IsEmpty());
}

// The use comes in the next iteration, in a block that stands before the sum's in the text.
TEST(Uses, AValueIsUsedByWayOfALoop) {
  EXPECT_THAT(unused("L:\nst.global.f32 [%rd1], %f1;\n@%p2 bra E;\nfma.rn.f32 %f1, %f2, %f2, %f2;\nbra L;\nE:\n"),
              IsEmpty());
}

TEST(Uses, LoadsHaveNoneOfTheirOwnUnlessTheyAreVolatile) {
  EXPECT_THAT(unused("cvt.rzi.s32.f32 %r1, %f1;\nld.global.f32 %f2, [%rd1];\n"), ElementsAre("cvt", "ld"));
  EXPECT_THAT(unused("mul.wide.s32 %rd2, %r1, 4;\nld.volatile.global.f32 %f2, [%rd2];\n"), IsEmpty());
}

// Held against ptxas 13.0 for sm_80: it removes an exponential that comes to no more than this.
TEST(Uses, ExchangesCarriesAndEmptyBranchesHaveNoneOfTheirOwn) {
  const std::string top = "ex2.approx.f32 %f1, %f2;\nmov.b32 %r1, %f1;\n";
  EXPECT_THAT(unused(top + "add.cc.u32 %r2, %r1, %r1;\naddc.u32 %r3, %r1, %r1;\n"),
              ElementsAre("ex2", "mov", "addc", "addc"));
  EXPECT_THAT(unused(top + "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n"), ElementsAre("ex2", "mov", "shfl"));
  EXPECT_THAT(unused(top + "match.any.sync.b32 %r2, %r1, -1;\n"), ElementsAre("ex2", "mov", "match"));
  EXPECT_THAT(unused(top + "redux.sync.add.u32 %r2, %r1, -1;\n"), ElementsAre("ex2", "mov", "redux"));
  const std::string guard = top + "setp.ne.u32 %p1, %r1, 0;\n";
  EXPECT_THAT(unused(guard + "vote.sync.any.pred %p2, %p1, -1;\n"), ElementsAre("ex2", "mov", "setp", "vote"));
  EXPECT_THAT(unused(guard + "@%p1 activemask.b32 %r2;\n"), ElementsAre("ex2", "mov", "setp", "activemask"));
  EXPECT_THAT(unused(guard + "@%p1 ld.global.f32 %f3, [%rd1];\n"), ElementsAre("ex2", "mov", "setp", "ld"));
  EXPECT_THAT(unused(guard + "@%p1 bra L;\nL:\n"), ElementsAre("ex2", "mov", "setp"));
}

// ptxas keeps it here.
TEST(Uses, BranchesBarriersFencesPrefetchesSleepsAndOtherFunctionsAreUses) {
  const std::string top = "ex2.approx.f32 %f1, %f2;\nmov.b32 %r1, %f1;\n", guard = top + "setp.ne.u32 %p1, %r1, 0;\n";
  EXPECT_THAT(unused(guard + "@%p1 bra L;\nst.global.f32 [%rd1], %f2;\nL:\n"), IsEmpty());
  EXPECT_THAT(unused(guard + "barrier.cta.red.popc.u32 %r2, 0, %p1;\n"), IsEmpty());
  EXPECT_THAT(unused(guard + "@%p1 membar.cta;\n"), IsEmpty());
  EXPECT_THAT(unused(guard + "@%p1 ld.volatile.global.f32 %f3, [%rd1];\n"), IsEmpty());
  EXPECT_THAT(unused(top + "cvt.u64.u32 %rd2, %r1;\nprefetch.global.L2 [%rd2];\n"), IsEmpty());
  EXPECT_THAT(unused(top + "nanosleep.u32 %r1;\n"), IsEmpty());
  EXPECT_THAT(unused("mul.f32 %f1, %f2, %f2;\n", {"%f1"}), IsEmpty());
  EXPECT_THAT(unused("mul.f32 %f1, %f2, %f2;\n"), ElementsAre("mul"));
}

// Code of a million steps of search ends, whatever it is taken for.
TEST(Uses, ALongChainOfBlocksAgainstTheirOrderEnds) {
  std::string body = "bra B0;\n";
  constexpr int kBlocks = 3000;
  for (int i = kBlocks; i-- > 0;) body += fmt::format("B{}:\nadd.f32 %f1, %f2, %f2;\n@%p1 bra B{};\n", i, i + 1);
  EXPECT_FALSE(unused(body + fmt::format("B{}:\n", kBlocks)).empty());
}

}  // namespace
}  // namespace roofwalk::vgpu
