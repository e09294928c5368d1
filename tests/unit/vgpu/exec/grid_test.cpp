// Tests when an SM sees another SM's stores within a launch, and what the grid counts.
#include <set>

#include "common/vgpu/sanitizer/held_blocks.h"
#include "common/vgpu/sanitizer/watched_blocks.h"
#include "tests/unit/vgpu/exec/grid_runner.h"

namespace roofwalk::vgpu {
namespace {

using test::run;

// Returns a kernel of two blocks, each on its own SM, that loop twice: a[block] = 7, then b[2 * block + round] = the
// word at `from` in a.
test::Kernel exchange(const std::string& from, const std::string& store = "st.global.u32 [%rd3], %r6;\n") {
  test::Kernel kernel{
      "mul.wide.u32 %rd9, %r2, 4;\nadd.s64 %rd3, %rd1, %rd9;\nsub.u32 %r5, 1, %r2;\nmul.wide.u32 %rd10, %r5, "
      "4;\nadd.s64 %rd4, %rd1, %rd10;\nmul.wide.u32 %rd11, %r2, 8;\nadd.s64 %rd5, %rd2, %rd11;\nmov.u32 %r6, "
      "7;\nmov.u32 %r7, 0;\nL:\n" +
      store + "ld.global.u32 %r8, [" + from +
      "];\nst.global.u32 [%rd5], %r8;\nadd.s64 %rd5, %rd5, 4;\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, 2;\n@%p1 "
      "bra L;\n"};
  kernel.grid = {2, 1, 1};
  return kernel;
}

std::vector<std::uint32_t> first_words(const std::vector<std::uint32_t>& all) { return {all.begin(), all.begin() + 4}; }

TEST(Grid, AnSmSeesItsOwnStoresAtOnce) {
  EXPECT_EQ(first_words(run(exchange("%rd3"), {}, 1).b), (std::vector<std::uint32_t>{7, 7, 7, 7}));
}

TEST(Grid, AnSmSeesTheStoresOfOthersFromTheNextRoundOn) {
  EXPECT_EQ(first_words(run(exchange("%rd4"), {}, 1).b), (std::vector<std::uint32_t>{0, 7, 0, 7}));
}

TEST(Grid, BlocksThatTalkSeeEachOtherInOrder) {
  const std::string atomic = "atom.global.add.u32 %r9, [%rd3], %r6;\n";  // executed by 32 lanes
  EXPECT_EQ(first_words(run(exchange("%rd4", atomic), {}, 1).b),
            (std::vector<std::uint32_t>{0, 7 * 32, 7 * 32, 7 * 64}));
}

TEST(Grid, PartlyStoredElementsAreReadWhole) {
  // The bytes of the first word come from two stores, and only half of the second word is stored. A wide load must read
  // both words right.
  const auto got =
      run({"mul.wide.u32 %rd9, %r1, 16;\nadd.s64 %rd3, %rd1, %rd9;\nadd.s64 %rd4, %rd2, %rd9;\nst.global.u32 [%rd3], "
           "%r1;\nadd.u32 %r3, %r1, 100;\nst.global.u8 [%rd3+1], %r3;\nst.global.u16 [%rd3+6], %r3;\nld.global.v4.u32 "
           "{%r4, %r5, %r6, %r7}, [%rd3];\nst.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};\n"});
  for (std::uint32_t thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(got.b[thread * 4], thread | (thread + 100) << 8);
    EXPECT_EQ(got.b[thread * 4 + 1], (thread + 100) << 16);
    EXPECT_EQ(got.a[thread * 4 + 1], (thread + 100) << 16);
  }
}

TEST(Grid, StridedLoadsSeeEveryRoundsStores) {
  // The lanes of one block load words 128 bytes apart, the same ones in every round, and another block changes these in
  // every round. The loads must see the changes of the round before.
  test::Kernel kernel{
      "mul.wide.u32 %rd9, %r1, 128;\nadd.s64 %rd3, %rd1, %rd9;\nmul.wide.u32 %rd10, %r1, 4;\nadd.s64 %rd4, %rd2, "
      "%rd10;\nsetp.eq.u32 %p2, %r2, 0;\nmov.u32 %r7, 0;\nL:\nadd.u32 %r7, %r7, 1;\n@%p2 st.global.u32 [%rd3], "
      "%r7;\n@!%p2 ld.global.u32 %r8, [%rd3];\n@!%p2 st.global.u32 [%rd4], %r8;\nadd.s64 %rd4, %rd4, 128;\nsetp.lt.u32 "
      "%p1, %r7, 4;\n@%p1 bra L;\n"};
  kernel.grid = {2, 1, 1};
  const auto got = run(kernel, {}, 1);
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(got.b[round * 32 + lane], round);
  }
}

TEST(Grid, LongStraightCodeCountsWhatItAsksFor) {
  // In a single turn, an SM's warps store to more lines than the SM's log holds. All of these stores must be counted.
  std::string body = "mul.wide.u32 %rd9, %r1, 128;\nand.b64 %rd9, %rd9, 4095;\nadd.s64 %rd3, %rd1, %rd9;\n";
  for (int i = 0; i < 300; ++i) body += "st.global.u32 [%rd3], %r1;\n";
  test::Kernel kernel{body};
  kernel.block = {1024, 1, 1};
  kernel.grid = {2, 1, 1};
  const auto got = run(kernel, {}, 1);
  std::uint64_t requests = 0, sectors = 0;
  for (const InstructionCounters& site : got.sites) {
    requests += site.requests;
    sectors += site.l2_write_sectors;
  }
  EXPECT_EQ(requests, 300u * 64);
  EXPECT_EQ(sectors, 300u * 64 * 32);
}

// The guarded instruction is lowered to two operations, but the lanes that the guard leaves out count only once.
TEST(Grid, AGuardLeavesLanesOutOnce) {
  const auto got = run({"setp.lt.u32 %p1, %r1, 5;\n@%p1 ld.param.v2.u32 {%r5, %r6}, [a];\n"});
  std::uint64_t left_out = 0;
  for (const InstructionCounters& site : got.sites) left_out += site.predicated_off;
  EXPECT_EQ(left_out, 27u);
}

// After a guarded exit, lanes have no certain reconvergence point. Some reach one barrier through different branches,
// others skip it and exit. The barrier waits for all lanes that have not exited, without a deadlock. Each lane then
// stores a value that another lane has written.
TEST(Grid, LanesMeetAtABarrierWhicheverBranchesTheyCameThrough) {
  const std::string body = R"(
setp.lt.u32 %p1, %r1, 8;
setp.lt.u32 %p2, %r1, 16;
setp.ge.u32 %p4, %r1, 99;
@!%p1 bra TWO;
@%p4 ret;
TWO:
@!%p2 bra OUT;
shl.b32 %r3, %r1, 2;
add.u32 %r4, %r3, %r11;
st.shared.u32 [%r4], %r1;
bar.sync 3;
xor.b32 %r5, %r1, 8;
shl.b32 %r6, %r5, 2;
add.u32 %r6, %r6, %r11;
ld.shared.u32 %r7, [%r6];
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd2, %rd3;
st.global.u32 [%rd4], %r7;
OUT:
)";
  const auto words = run({body}).b;
  for (std::uint32_t thread = 0; thread < 32; ++thread)
    EXPECT_EQ(words[thread], thread < 16 ? thread ^ 8 : 0) << thread;
}

// Returns how many of a grid's first blocks are held, one in each slot.
std::size_t held_among(std::vector<ResidentBlock>& slots, HeldBlocks& blocks) {
  std::size_t held = 0;
  for (ResidentBlock& slot : slots) {
    slot.linear_index = static_cast<std::uint64_t>(&slot - slots.data());
    blocks.choose(slot);
    held += slot.is_held ? 1 : 0;
  }
  return held;
}

std::size_t count_held(const std::vector<ResidentBlock>& slots) {
  return static_cast<std::size_t>(
      std::count_if(slots.begin(), slots.end(), [](const ResidentBlock& slot) { return slot.is_held; }));
}

// Of two or three, one may be.
TEST(HeldBlocks, AreSomeOfTheFirstAndAtMostAQuarterOfTheSlots) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    for (const std::size_t slots : {1u, 2u, 5u, 64u, 1000u}) {
      std::vector<ResidentBlock> all(slots);
      HeldBlocks blocks(seed, 4096, slots, 1'000'000);
      const std::size_t held = held_among(all, blocks);
      EXPECT_LE(held, slots < 2 ? 0u : std::clamp<std::size_t>(slots / 4, 1, 16)) << slots;
      EXPECT_GE(held, slots < 64 ? 0u : 1u) << seed;
    }
  }
  std::vector<ResidentBlock> all(64);
  HeldBlocks none(0, 4096, 64, 1'000'000);
  EXPECT_EQ(held_among(all, none), 0u);
}

TEST(HeldBlocks, AreLetGoOneByOneIfNobodyEndsAndAllAtOnceIfNobodyMoves) {
  constexpr std::uint64_t kBudget = 512'000, kPatience = 1000;
  std::vector<ResidentBlock> slots(64);
  HeldBlocks blocks(3, 4096, slots.size(), kBudget);
  const std::size_t held = held_among(slots, blocks);
  ASSERT_GE(held, 3u);
  EXPECT_FALSE(blocks.settle_round(true, false, kPatience - 1));
  EXPECT_FALSE(blocks.settle_round(true, true, kPatience));
  EXPECT_FALSE(blocks.settle_round(true, false, kPatience - 1));
  EXPECT_EQ(count_held(slots), held);
  EXPECT_TRUE(blocks.settle_round(true, false, 1));
  EXPECT_EQ(count_held(slots), held - 1);
  EXPECT_FALSE(blocks.settle_round(true, false, kPatience - 1));
  EXPECT_TRUE(blocks.settle_round(false, false, 0));
  EXPECT_EQ(count_held(slots), 0u);
  EXPECT_FALSE(blocks.settle_round(false, false, 0));
}

TEST(WatchedBlocks, AreTheFirstOnesAndAboutAsManyOthersAsWanted) {
  constexpr std::uint64_t kWanted = 64, kTotal = 4096;
  std::set<std::vector<std::uint64_t>> choices;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const WatchedBlocks some(kWanted, seed, kTotal);
    std::vector<std::uint64_t> held;
    for (std::uint64_t block = 0; block < kTotal; ++block) {
      if (some.hold(block)) held.push_back(block);
    }
    EXPECT_EQ(held[kWanted / 4 - 1], kWanted / 4 - 1);
    EXPECT_NEAR(static_cast<double>(held.size()), kWanted, 30);
    EXPECT_GT(held.back(), kTotal / 2);
    choices.insert(held);
  }
  EXPECT_EQ(choices.size(), 50u);
  for (const WatchedBlocks& all : {WatchedBlocks(0, 1, kTotal), WatchedBlocks(kTotal, 1, kTotal)}) {
    for (std::uint64_t block = 0; block < kTotal; ++block) EXPECT_TRUE(all.hold(block));
  }
}

}  // namespace
}  // namespace roofwalk::vgpu
