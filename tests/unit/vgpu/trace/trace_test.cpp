// Compares the contents of traces, and the choice of traced blocks, with results by hand.
#include "common/vgpu/memory/l1_cache.h"
#include "common/vgpu/memory/l2_cache.h"
#include "common/vgpu/trace/sample.h"
#include "tests/unit/vgpu/exec/grid_runner.h"

namespace roofwalk::vgpu {
namespace {

using test::run;

// Returns PTX that computes addresses of 4-byte words: %rd3 = a + 4 * stride * thread and %rd4 = b + 4 * stride *
// thread.
std::string addresses(int stride) {
  return "mul.wide.u32 %rd9, %r1, " + std::to_string(4 * stride) +
         ";\nadd.s64 %rd3, %rd1, %rd9;\nadd.s64 %rd4, %rd2, %rd9;\n";
}

// Returns the outcomes without the hashes of lines, which cannot be derived by hand.
std::vector<Outcome> outcomes(const GridTrace& trace, std::size_t block = 0, std::size_t warp = 0) {
  const auto& recorded = trace.blocks.at(block).warps.at(warp).outcomes;
  std::vector<Outcome> out(recorded.begin(), recorded.end());
  for (Outcome& o : out) o.line = 0;
  return out;
}

TEST(Trace, CoalescedLoadThatMissesThenHitsAndItsStore) {
  const auto got =
      run({addresses(1) + "ld.global.u32 %r3, [%rd3];\nld.global.u32 %r4, [%rd3];\nst.global.u32 [%rd4], %r3;\n"
                          "st.global.u32 [%rd4], %r4;\n"});
  ASSERT_TRUE(got.trace.complete);
  ASSERT_EQ(got.trace.blocks.size(), 1u);
  EXPECT_EQ(got.trace.blocks[0].warps[0].blocks, std::pmr::vector<std::uint32_t>{0});
  EXPECT_EQ(got.trace.blocks[0].instructions, 5u + 3 + 4 + 1);
  EXPECT_EQ(got.trace.blocks[0].work.instructions, got.trace.blocks[0].instructions);
  const std::vector<Outcome> wanted{
      {.lines = 1, .wavefronts = 1, .l2_read_sectors = 4, .dram_read_sectors = 4},
      {.lines = 1, .wavefronts = 1},
      {.lines = 1, .wavefronts = 1, .l2_write_sectors = 4, .dram_write_sectors = 4},
      {.lines = 1, .wavefronts = 1, .l2_write_sectors = 4},  // the sectors are already dirty
  };
  EXPECT_EQ(outcomes(got.trace), wanted);
  EXPECT_EQ(got.trace.blocks[0].warps[0].found, (std::vector<Found>{{1, 0, 0}}));  // fetched by the first load
}

TEST(Trace, StridedLoadAsksForEverySector) {
  const auto got = run({addresses(8) + "ld.global.u32 %r3, [%rd3];\n"});
  const std::vector<Outcome> wanted{{.lines = 8, .wavefronts = 8, .l2_read_sectors = 32, .dram_read_sectors = 32}};
  EXPECT_EQ(outcomes(got.trace), wanted);
}

TEST(Trace, AnotherSmFindsItInL2) {
  test::Kernel kernel{"ld.global.u32 %r3, [%rd1];\n"};
  kernel.grid = {2, 1, 1};
  const auto got = run(kernel, {}, 1);
  ASSERT_EQ(got.trace.blocks.size(), 2u);
  const Outcome first{.lines = 1, .wavefronts = 1, .l2_read_sectors = 1, .dram_read_sectors = 1};
  const Outcome second{.lines = 1, .wavefronts = 1, .l2_read_sectors = 1, .arrives = Arrival::from_dram};
  EXPECT_EQ(outcomes(got.trace, 0), std::vector{first});
  EXPECT_EQ(outcomes(got.trace, 1), std::vector{second});
}

TEST(Trace, SharedMemoryTakesWavefrontsAndNoSectors) {
  const auto got =
      run({"mad.lo.u32 %r5, %r1, 16, %r11;\nst.shared.u32 [%r5], %r1;\nld.shared.u32 %r6, [%r5];\n"
           "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r5];\n"});
  const std::vector<Outcome> wanted{
      {.shared_wavefronts = 4, .shared_conflicts = 3},  // every fourth word: four lanes per bank
      {.shared_wavefronts = 4, .shared_conflicts = 3},
      {.shared_wavefronts = 4},  // 16 bytes per lane are read by quarter warps in any case
  };
  EXPECT_EQ(outcomes(got.trace), wanted);
}

// Wide loads take half as many wavefronts if lanes in pairs read the same address. Stores always take as many
// wavefronts as their width requires. %r1 is the lane.
TEST(Trace, WideLoadsInPairsTakeHalfTheTurns) {
  struct Case {
    const char* lane;  // computes %r5, the index of the 16 or 8 bytes that a lane reads
    std::uint8_t wide, half_wide;
  };
  const Case cases[] = {
      {"mov.u32 %r5, 0;\n", 2, 1},        //
      {"shr.u32 %r5, %r1, 1;\n", 2, 1},   // 0 0 1 1 2 2
      {"and.b32 %r5, %r1, 5;\n", 2, 1},   // 0 1 0 1 4 5
      {"and.b32 %r5, %r1, 15;\n", 4, 2},  // equal addresses are in different half warps, not in pairs
      {"and.b32 %r5, %r1, 27;\n", 4, 2},  // 0 1 2 3 0 1 2 3
  };
  for (const Case& c : cases) {
    const auto got = run({std::string(c.lane) + "mad.lo.u32 %r6, %r5, 8, %r11;\nmad.lo.u32 %r5, %r5, 16, %r11;\n" +
                          "ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r5];\nld.shared.v2.u32 {%r7, %r8}, [%r6];\n"
                          "st.shared.v4.u32 [%r5], {%r7, %r8, %r9, %r10};\n"});
    const auto outcome = outcomes(got.trace);
    ASSERT_EQ(outcome.size(), 3u) << c.lane;
    EXPECT_EQ(outcome[0].shared_wavefronts, c.wide) << c.lane;
    EXPECT_EQ(outcome[1].shared_wavefronts, c.half_wide) << c.lane;
    EXPECT_EQ(outcome[2].shared_wavefronts, 4) << c.lane;
    for (const Outcome& o : outcome) EXPECT_EQ(o.shared_conflicts, 0) << c.lane;
  }
}

TEST(Trace, GuardedOffIsAllZeroAndKeepsItsPlace) {
  const auto got =
      run({addresses(1) + "setp.gt.u32 %p1, %r1, 40;\nsetp.gt.u32 %p2, %r1, 23;\n@%p1 ld.global.u32 %r3, [%rd3];\n"
                          "@%p2 ld.global.u32 %r3, [%rd3];\n"});
  const std::vector<Outcome> wanted{{}, {.lines = 1, .wavefronts = 1, .l2_read_sectors = 1, .dram_read_sectors = 1}};
  EXPECT_EQ(outcomes(got.trace), wanted);
}

TEST(Trace, AtomicsAreReadAndOwed) {
  const auto got = run({addresses(1) + "red.global.add.u32 [%rd3], %r1;\natom.global.add.u32 %r3, [%rd3], %r1;\n"});
  const std::vector<Outcome> wanted{
      {.lines = 1, .wavefronts = 1, .l2_write_sectors = 4, .dram_read_sectors = 4, .dram_write_sectors = 4},
      {.lines = 1, .wavefronts = 1, .l2_write_sectors = 4},
  };
  EXPECT_EQ(outcomes(got.trace), wanted);
}

TEST(Trace, LocalMemoryAddsTheWordsOfOneInstruction) {
  const auto got = run({"st.local.v2.u32 [l], {%r1, %r1};\nst.local.v2.u32 [l], {%r1, %r1};\n"});
  const std::vector<Outcome> wanted{
      {.lines = 2, .wavefronts = 2, .l2_write_sectors = 8, .dram_write_sectors = 8},
      {.lines = 2, .wavefronts = 2, .l2_write_sectors = 8},
  };
  EXPECT_EQ(outcomes(got.trace), wanted);
}

TEST(Trace, ALoopIsAnEntryAnIteration) {
  const auto got =
      run({addresses(1) + "mov.u32 %r5, 0;\nL:\nld.global.u32 %r3, [%rd3];\nadd.s64 %rd3, %rd3, 128;\n"
                          "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 3;\n@%p1 bra L;\nst.global.u32 [%rd4], %r3;\n"});
  const std::pmr::vector<std::uint32_t> entries{0, 1, 1, 1, 2};
  EXPECT_EQ(got.trace.blocks[0].warps[0].blocks, entries);
  const Outcome load{.lines = 1, .wavefronts = 1, .l2_read_sectors = 4, .dram_read_sectors = 4};
  const Outcome store{.lines = 1, .wavefronts = 1, .l2_write_sectors = 4, .dram_write_sectors = 4};
  EXPECT_EQ(outcomes(got.trace), (std::vector{load, load, load, store}));
  ASSERT_EQ(got.blocks[1].memory.size(), 1u);
  EXPECT_EQ(got.blocks[0].memory.size(), 0u);
}

TEST(Trace, OutcomesAddUpToTheSites) {
  test::Kernel kernel{addresses(3) +
                      "ld.global.u32 %r3, [%rd3];\nmad.lo.u32 %r5, %r1, 8, %r11;\nst.shared.u32 [%r5], %r3;\n"
                      "red.global.add.u32 [%rd1+64], %r1;\n"};
  kernel.grid = {50, 1, 1};
  kernel.block = {96, 1, 1};
  const auto got = run(kernel);
  ASSERT_TRUE(got.trace.complete);
  ASSERT_EQ(got.trace.blocks.size(), 50u);
  for (std::size_t i = 0; i < got.blocks[0].memory.size(); ++i) {
    std::uint64_t lines = 0, l2 = 0, dram = 0, wavefronts = 0;
    for (const BlockTrace& block : got.trace.blocks) {
      for (const WarpTrace& warp : block.warps) {
        const Outcome& outcome = warp.outcomes.at(i);
        lines += outcome.lines;
        l2 += outcome.l2_read_sectors + outcome.l2_write_sectors;
        dram += outcome.dram_read_sectors;
        wavefronts += outcome.shared_wavefronts;
      }
    }
    const InstructionCounters& site = got.sites[got.blocks[0].memory[i]];
    EXPECT_EQ(lines, site.lines);
    EXPECT_EQ(l2, site.l2_read_sectors + site.l2_write_sectors);
    EXPECT_EQ(dram, got.traffic[got.blocks[0].memory[i]].dram_read_sectors);
    EXPECT_EQ(wavefronts, site.wavefronts);
  }
}

TEST(Sample, KeepsTheBlocksWithTheSmallestHashes) {
  test::Kernel kernel{addresses(1) + "ld.global.u32 %r3, [%rd3];\n"};
  kernel.grid = {1000, 1, 1};
  const auto got = run(kernel, {.instructions = 1000});
  EXPECT_FALSE(got.trace.complete);
  const std::uint64_t instructions = got.trace.blocks.size() * got.trace.blocks[0].instructions;
  EXPECT_LE(instructions, 1000u);
  EXPECT_GE(instructions, 250u);
  // The hashes of all traced blocks are below a threshold, and every block below it is traced.
  std::uint64_t highest = 0;
  for (const BlockTrace& block : got.trace.blocks) highest = std::max(highest, mix(block.index));
  std::size_t below = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) below += mix(i) <= highest;
  EXPECT_EQ(below, got.trace.blocks.size());
  EXPECT_GE(highest, ~0ull / 200);
  for (std::size_t i = 1; i < got.trace.blocks.size(); ++i) {
    EXPECT_LT(got.trace.blocks[i - 1].index, got.trace.blocks[i].index);
  }
}

TEST(Sample, AnotherKeyKeepsOtherBlocks) {
  test::Kernel kernel{addresses(1) + "ld.global.u32 %r3, [%rd3];\n"};
  kernel.grid = {1000, 1, 1};
  const auto kept = [&](std::uint64_t key) {
    std::vector<std::uint64_t> out;
    for (const BlockTrace& block : run(kernel, {.instructions = 1000, .key = key}).trace.blocks)
      out.push_back(block.index);
    return out;
  };
  EXPECT_EQ(kept(7), kept(7));
  EXPECT_NE(kept(7), kept(8));
}

// One block of 1000 does most of the work. The sample probably lacks it, reports that, and includes it on request.
TEST(Sample, AsksForBlocksThatAreLikeNoneThatItHas) {
  test::Kernel kernel{
      "setp.eq.u32 %p1, %r2, 777;\nselp.u32 %r5, 400, 1, %p1;\nL:\nadd.u32 %r5, %r5, -1;\n"
      "setp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;\n"};
  kernel.grid = {1000, 1, 1};
  const auto first = run(kernel, {.instructions = 2000});
  ASSERT_FALSE(first.trace.complete);
  EXPECT_EQ(first.trace.missing, std::vector<std::uint64_t>{777});
  const auto again = run(kernel, {.instructions = 2000, .also = {777}});
  EXPECT_TRUE(again.trace.missing.empty());
  EXPECT_TRUE(std::any_of(again.trace.blocks.begin(), again.trace.blocks.end(),
                          [](const BlockTrace& block) { return block.index == 777; }));
}

// Traced blocks represent untraced ones, so both must have the same costs.
TEST(Sample, TracedBlocksAreAlikeToOthers) {
  test::Kernel kernel{addresses(1) +
                      "ld.global.u32 %r3, [%rd3];\nld.global.u32 %r4, [%rd3];\n"
                      "st.global.u32 [%rd4], %r3;\n"};
  kernel.grid = {1000, 1, 1};
  const auto got = run(kernel, {.instructions = 1000});
  ASSERT_FALSE(got.trace.complete);
  // The common stratum has all blocks but the first of each SM, which find L1 empty.
  const auto usual = std::max_element(got.trace.strata.begin(), got.trace.strata.end(),
                                      [](const Stratum& a, const Stratum& b) { return a.blocks < b.blocks; });
  ASSERT_NE(usual, got.trace.strata.end());
  EXPECT_GE(usual->blocks, 990u);
  EXPECT_GE(usual->traced + 4, got.trace.blocks.size());
}

TEST(Sample, NeverWalksOverAHugeGrid) {
  Sample sample({.instructions = 100}, std::uint64_t{1} << 63, 2, 8);
  BlockTrace* trace = sample.start(0, 1);
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(sample.hold_limits({.instructions = 1000, .bytes = 1000}));
}

TEST(Sample, KeepsMoreOfAGridWhoseBlocksAllRunAtOnce) {
  for (const std::uint64_t blocks : {16, 17}) {
    Sample sample({.instructions = 100, .one_wave_instructions = 1000, .waves = 1}, blocks, 2, 8);
    for (std::uint64_t i = 0; i < blocks; ++i) ASSERT_NE(sample.start(i, 1), nullptr);
    EXPECT_EQ(sample.hold_limits({.instructions = 500}), blocks == 17) << blocks;
  }
}

// A kernel may begin millions of phases that no warp waits for; the timing model keeps an entry for each number.
TEST(Sample, NumbersOnlyThePhasesThatAWarpWaitsFor) {
  using Kind = SyncPoint::Kind;
  Sample sample({.instructions = 1000}, 1, 1, 8);
  BlockTrace* trace = sample.start(0, 2);
  ASSERT_NE(trace, nullptr);
  trace->warps[0].sync_points = {{0, 7, Kind::arrives}, {1, 3'000'000, Kind::arrives}, {2, 4'000'000, Kind::arrives}};
  trace->warps[1].sync_points = {{0, 4'000'000, Kind::waits}, {1, 7, Kind::waits}};
  sample.finish(trace, {});
  EXPECT_EQ(trace->warps[0].sync_points, (std::vector<SyncPoint>{{0, 0, Kind::arrives}, {2, 1, Kind::arrives}}));
  EXPECT_EQ(trace->warps[1].sync_points, (std::vector<SyncPoint>{{0, 1, Kind::waits}, {1, 0, Kind::waits}}));
}

TEST(Sample, NeverKeepsFewerBlocksThanItsWaves) {
  test::Kernel kernel{addresses(1) + "ld.global.u32 %r3, [%rd3];\n"};
  kernel.grid = {1000, 1, 1};
  const auto got = run(kernel, {.instructions = 1, .waves = 3}, 2);
  EXPECT_FALSE(got.trace.complete);
  EXPECT_GE(got.trace.blocks.size(), 6u);
  EXPECT_LE(got.trace.blocks.size(), 24u);
  kernel.grid = {8, 1, 1};
  EXPECT_TRUE(run(kernel, {.instructions = 1, .waves = 3}, 4).trace.complete);
}

TEST(Sample, EndsWhereNoMemoryIsLeft) {
  const test::Kernel kernel{
      "mov.u32 %r5, 0;\nL:\nst.global.u32 [%rd2], %r1;\nadd.u32 %r5, %r5, 1;\n"
      "setp.lt.u32 %p1, %r5, 1000;\n@%p1 bra L;\n"};
  const auto got = run(kernel, {.bytes = 2000});
  EXPECT_FALSE(got.trace.complete);
  ASSERT_EQ(got.trace.blocks.size(), 1u);
  const BlockTrace& block = got.trace.blocks[0];
  EXPECT_EQ(block.work.instructions, 5u + 1 + 4 * 1000 + 1);
  EXPECT_LT(block.instructions, 1000u);
  EXPECT_EQ(block.instructions, 6u + 4 * (block.warps[0].blocks.size() - 1));
  EXPECT_EQ(block.warps[0].outcomes.size(), block.warps[0].blocks.size() - 1);
}

TEST(Sample, CompleteKeepsEverythingAndZeroNothing) {
  test::Kernel kernel{addresses(1) + "ld.global.u32 %r3, [%rd3];\n"};
  kernel.grid = {200, 1, 1};
  const auto all = run(kernel, {.instructions = 1, .waves = 1, .bytes = 1, .complete = true});
  EXPECT_TRUE(all.trace.complete);
  EXPECT_EQ(all.trace.blocks.size(), 200u);
  const auto none = run(kernel, {.instructions = 0});
  EXPECT_FALSE(none.trace.complete);
  EXPECT_TRUE(none.trace.blocks.empty());
}

TEST(TraceMemory, TakesFromThePieceAndThenFromTheHeap) {
  TraceMemory memory(64);
  std::pmr::vector<std::uint32_t> first(8, 1u, &memory);
  std::pmr::vector<std::uint64_t> second(4, 2u, &memory);
  EXPECT_EQ(reinterpret_cast<std::byte*>(second.data()) - reinterpret_cast<std::byte*>(first.data()), 32);
  std::pmr::vector<std::uint8_t> third(1, std::uint8_t{3}, &memory);
  first.push_back(4);
  EXPECT_EQ(first.back(), 4u);
  EXPECT_EQ(second, (std::pmr::vector<std::uint64_t>(4, 2u)));
  EXPECT_EQ(third.front(), 3);
}

}  // namespace
}  // namespace roofwalk::vgpu
