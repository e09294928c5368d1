// Which machine access performs each PTX access to shared memory: PTX by hand, with machine code by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/ptx/module.h"
#include "common/vgpu/program/machine_code.h"

namespace roofwalk::vgpu {
namespace {

struct OnLine {
  int line = 0;  // of the body, from 1
  std::uint8_t bytes = 0;
  std::uint16_t operation = 0;
  bool counts_lanes = false;
};

// The accesses of the body's instructions. `code`: LDS, STS and ATOMS instructions.
SharedAccesses found(const std::string& body, const std::vector<OnLine>& code) {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .f32 %f<9>;\n"
      ".reg .b32 %r<99>;\n.reg .pred %p<3>;\n.shared .align 16 .b8 tile[512];\n" +
      body + "ret;\n}\n";
  constexpr std::uint32_t kLinesBefore = 9;
  const auto module = ptx::parse(text, "kernel.cu");
  EXPECT_TRUE(module.ok()) << (module ? "" : module.error().text());
  const ptx::Function* function = module->find_function("k");
  std::vector<MachineOp> ops{{}};  // some instruction of no line
  for (const OnLine& each : code) {
    ops.push_back({.ptx_line = kLinesBefore + static_cast<std::uint32_t>(each.line),
                   .operation = each.operation,
                   .shared_bytes = each.bytes,
                   .counts_lanes = each.counts_lanes});
  }
  return find_shared_accesses(*function, find_blocks(*function), ops);
}

constexpr const char* kFourLoads =
    "ld.shared.f32 %f1, [%r1];\n"
    "ld.shared.f32 %f2, [%r1+4];\n"
    "ld.shared.f32 %f3, [%r1+8];\n"
    "ld.shared.f32 %f4, [%r1+12];\n";

TEST(SharedAccesses, FourLoadsAreOneOf16Bytes) {
  const SharedAccesses accesses = found(kFourLoads, {{3, 16}});
  EXPECT_TRUE(accesses.found_all);
  EXPECT_FALSE(accesses.of[2].is_merged());
  EXPECT_EQ(accesses.of[2].bytes, 16);
  EXPECT_EQ(accesses.of[2].before, 8);
  for (const std::size_t pc : {0, 1, 3}) EXPECT_EQ(accesses.of[pc].merged_into, 2u) << pc;
}

TEST(SharedAccesses, TwoPairsAreTwoOf8Bytes) {
  const SharedAccesses accesses = found(kFourLoads, {{1, 8}, {4, 8}});
  EXPECT_TRUE(accesses.found_all);
  EXPECT_EQ(accesses.of[1].merged_into, 0u);
  EXPECT_EQ(accesses.of[2].merged_into, 3u);
  EXPECT_EQ(accesses.of[3].before, 4);
}

TEST(SharedAccesses, UnmergedOnesStandForThemselves) {
  const SharedAccesses accesses = found(kFourLoads, {{1, 4}, {2, 4}, {3, 4}, {4, 4}, {4, 4}});  // one was copied
  EXPECT_TRUE(accesses.found_all);
  for (std::size_t pc = 0; pc < 4; ++pc) EXPECT_EQ(accesses.of[pc].bytes, 0) << pc;
}

// The register may be off by a word, so the wide access may begin at any word: the one that leaves no load over.
TEST(SharedAccesses, AWideAccessBeginsWhereItIsCovered) {
  const std::string loads = "ld.shared.f32 %f5, [%r1+-4];\n" + std::string(kFourLoads);
  const SharedAccesses accesses = found(loads, {{1, 16}, {5, 4}});
  EXPECT_TRUE(accesses.found_all);
  EXPECT_EQ(accesses.of[0].before, 0);
  EXPECT_EQ(accesses.of[3].merged_into, 0u);
  EXPECT_EQ(accesses.of[4].bytes, 0);
}

TEST(SharedAccesses, VectorsAndStoresAreMergedToo) {
  const SharedAccesses accesses = found(
      "st.shared.v2.f32 [%r1+8], {%f1, %f2};\n"
      "st.shared.v2.f32 [%r1], {%f3, %f4};\n",
      {{2, 16}});
  EXPECT_TRUE(accesses.found_all);
  EXPECT_EQ(accesses.of[0].merged_into, 1u);
  EXPECT_EQ(accesses.of[1].before, 0);
}

TEST(SharedAccesses, RegistersAreFollowedToTheirBase) {
  const SharedAccesses accesses = found(
      "mov.u32 %r1, tile;\n"
      "add.s32 %r2, %r1, 4;\n"
      "add.s32 %r3, %r2, 4;\n"
      "ld.shared.f32 %f1, [tile];\n"
      "ld.shared.f32 %f2, [%r2];\n"
      "ld.shared.f32 %f3, [%r3];\n"
      "ld.shared.f32 %f4, [%r3+4];\n",
      {{4, 16}});
  EXPECT_TRUE(accesses.found_all);
  EXPECT_EQ(accesses.of[6].merged_into, 3u);
}

// A loop of one basic block: two loads of neighbouring words, and one further on. Its address grows by `step` words.
std::string loop(const std::string& step) {
  return "loop:\n"
         "ld.shared.f32 %f1, [%r1];\n"
         "ld.shared.f32 %f2, [%r1+4];\n"
         "ld.shared.f32 %f3, [%r3];\n" +
         step +
         "setp.ne.s32 %p1, %r2, 8;\n"
         "@%p1 bra loop;\n";
}

TEST(SharedAccesses, AreMergedAcrossIterations) {
  // The address itself grows; the address is made anew, from a counter.
  const std::string grows = "add.s32 %r1, %r1, 8;\nadd.s32 %r2, %r2, 1;\n";
  const std::string made =
      "and.b32 %r4, %r5, 7;\nadd.s32 %r7, %r4, %r2;\nshl.b32 %r8, %r7, 3;\nadd.s32 %r1, %r6, %r8;\nadd.s32 %r2, %r2, "
      "1;\n";
  for (const std::string& step : {grows, made}) {
    const SharedAccesses accesses = found(loop(step), {{2, 16}, {4, 4}, {2, 16}, {4, 4}, {4, 4}, {4, 4}});
    EXPECT_TRUE(accesses.found_all) << step;
    EXPECT_EQ(accesses.of[0].bytes, 16);
    EXPECT_EQ(accesses.of[0].iterations, 2);
    EXPECT_EQ(accesses.of[1].merged_into, 0u);
    EXPECT_EQ(accesses.of[2].bytes, 0);
    EXPECT_TRUE(accesses.of[0].is_performed_at(48));
    EXPECT_FALSE(accesses.of[0].is_performed_at(56));
    EXPECT_FALSE(accesses.of[1].is_performed_at(48));
  }
}

// ptxas may load the first words of an unrolled loop once more. If the loop has code for remaining iterations, the
// narrow loads may be theirs.
TEST(SharedAccesses, TheFirstWordsMayBeLoadedTwice) {
  const std::string body =
      "loop:\nld.shared.f32 %f1, [%r1];\nld.shared.f32 %f3, [%r3];\nadd.s32 %r1, %r1, 4;\nadd.s32 %r2, %r2, 1;\n"
      "setp.ne.s32 %p1, %r2, 8;\n@%p1 bra loop;\n";
  std::vector<OnLine> code = {{2, 4}, {2, 16}, {2, 16}};
  for (int copy = 0; copy < 8; ++copy) code.push_back({3, 4});
  const SharedAccesses accesses = found(body, code);
  EXPECT_TRUE(accesses.found_all);
  EXPECT_EQ(accesses.of[0].iterations, 4);
  EXPECT_TRUE(accesses.of[0].is_repeated_at(64));
  EXPECT_FALSE(accesses.of[0].is_repeated_at(80));
  code.push_back({3, 4});
  EXPECT_FALSE(found(body, code).found_all);
}

TEST(SharedAccesses, AreNotMergedAcrossIterationsThatAreFurtherApart) {
  const std::vector<OnLine> code = {{2, 16}, {4, 4}};
  const std::string counts = "add.s32 %r2, %r2, 1;\n";
  EXPECT_TRUE(found(loop("add.s32 %r1, %r1, 8;\n" + counts), code).found_all);
  for (const char* step : {"add.s32 %r1, %r1, 12;\n", "add.s32 %r1, %r1, %r2;\n", "@%p2 add.s32 %r1, %r1, 8;\n",
                           "add.s32 %r1, %r1, -8;\n", "ld.shared.b32 %r1, [tile];\n", ""}) {
    EXPECT_FALSE(found(loop(step + counts), code).found_all) << step;
  }
}

// The address adds up registers, so that there are 2^60 ways to the first of them.
TEST(SharedAccesses, EachRegisterOfALoopIsFollowedOnce) {
  std::string adds;
  for (int i = 10; i < 70; ++i) adds += fmt::format("add.s32 %r{}, %r{}, %r{};\n", i + 1, i, i);
  EXPECT_FALSE(found(loop(adds + "add.s32 %r1, %r70, %r2;\nadd.s32 %r2, %r2, 4;\n"), {{2, 16}, {4, 4}}).found_all);
  EXPECT_TRUE(found(loop(adds + "add.s32 %r1, %r70, %r2;\nadd.s32 %r2, %r2, 8;\n"), {{2, 16}, {4, 4}}).found_all);
}

// Without a loop, PTX accesses are lacking.
TEST(SharedAccesses, AnIncompleteOneIsNotGuessed) {
  EXPECT_FALSE(found("ld.shared.f32 %f1, [%r1];\n", {{1, 16}}).found_all);
  const SharedAccesses gap = found("ld.shared.f32 %f1, [%r1];\nld.shared.f32 %f2, [%r1+8];\n", {{1, 16}});
  EXPECT_FALSE(gap.found_all);
  EXPECT_EQ(gap.of[0].bytes, 0);
  EXPECT_FALSE(gap.of[1].is_merged());
}

// Sums that begin with the second of eight words: ptxas loads the first one, too.
TEST(SharedAccesses, AWordTooManyIsLoadedAtAnEnd) {
  std::string seven;
  for (int i = 1; i < 8; ++i) seven += fmt::format("ld.shared.f32 %f{}, [%r1+{}];\n", i, 4 * i);
  const SharedAccesses accesses = found(seven, {{1, 16}, {4, 16}});
  EXPECT_TRUE(accesses.found_all);
  EXPECT_EQ(accesses.of[0].before, 4);
  EXPECT_EQ(accesses.of[2].merged_into, 0u);
  EXPECT_EQ(accesses.of[3].before, 0);
  EXPECT_EQ(accesses.of[6].merged_into, 3u);
  EXPECT_FALSE(found(seven, {{1, 16}, {2, 16}}).found_all);
}

TEST(SharedAccesses, OneWithoutMachineCodeIsNotFound) {
  EXPECT_FALSE(found(kFourLoads, {{1, 4}, {2, 4}, {3, 4}}).found_all);
  EXPECT_TRUE(found(kFourLoads, {{1, 4}, {2, 4}, {3, 4}, {4, 4}}).found_all);
}

// Copies of a loop body may be merged in different ways; no count holds for all.
TEST(SharedAccesses, DifferentWidthsOnOneLineAreNotGuessed) {
  EXPECT_FALSE(found(kFourLoads, {{1, 16}, {1, 4}}).found_all);
}

TEST(SharedAccesses, WhatLiesBetweenSeparates) {
  const std::string barrier =
      "ld.shared.f32 %f1, [%r1];\nld.shared.f32 %f2, [%r1+4];\nbar.sync 0;\n"
      "ld.shared.f32 %f3, [%r1+8];\nld.shared.f32 %f4, [%r1+12];\n";
  EXPECT_FALSE(found(barrier, {{1, 16}}).found_all);
  EXPECT_TRUE(found(barrier, {{1, 8}, {4, 8}}).found_all);
  const std::string changed = "ld.shared.f32 %f1, [%r1];\nadd.s32 %r1, %r1, %r2;\nld.shared.f32 %f2, [%r1+4];\n";
  EXPECT_FALSE(found(changed, {{1, 8}}).found_all);
  const std::string guarded = "ld.shared.f32 %f1, [%r1];\n@%p1 ld.shared.f32 %f2, [%r1+4];\n";
  EXPECT_FALSE(found(guarded, {{1, 8}}).found_all);
  const std::string store = "ld.shared.f32 %f1, [%r1];\nst.shared.f32 [%r1+4], %f2;\n";
  EXPECT_FALSE(found(store, {{1, 8}}).found_all);
}

// Loads of the same bytes, as where nvcc unrolled a loop with barriers: each group has machine accesses of its own.
TEST(SharedAccesses, TheSameBytesTwiceAreTwoGroups) {
  const std::string twice = std::string(kFourLoads) + kFourLoads;
  const SharedAccesses accesses = found(twice, {{1, 16}, {5, 16}});
  EXPECT_TRUE(accesses.found_all);
  EXPECT_EQ(accesses.of[3].merged_into, 0u);
  EXPECT_EQ(accesses.of[7].merged_into, 4u);
}

TEST(SharedAccesses, AtomicsCountLanesIfAllTheirCopiesDo) {
  constexpr std::uint16_t kAtomic = 0x18c, kLoad = 0x184;
  const std::string atomics =
      "red.shared.add.u32 [%r1], 1;\n"
      "atom.shared.add.u32 %r2, [%r1], 1;\n"
      "red.shared.add.u32 [%r1], %r3;\n"
      "ld.shared.f32 %f1, [%r1];\n"
      "red.shared.inc.u32 [%r1], %r3;\n";
  const std::vector<OnLine> code = {{1, 0, kAtomic, true}, {1, 0, kAtomic, true},  {2, 0, kAtomic, false},
                                    {2, 0, kAtomic, true}, {3, 0, kAtomic, false}, {4, 4, kLoad, false},
                                    {4, 0, kAtomic, true}};
  const SharedAccesses accesses = found(atomics, code);
  EXPECT_TRUE(accesses.found_all);
  for (std::size_t pc = 0; pc < 5; ++pc) EXPECT_EQ(accesses.of[pc].counts_lanes, pc == 0) << pc;
}

TEST(SharedAccesses, WithoutMachineCodeNothingIsKnown) {
  const SharedAccesses accesses = found(kFourLoads, {});
  EXPECT_FALSE(accesses.found_all);
}

}  // namespace
}  // namespace roofwalk::vgpu
