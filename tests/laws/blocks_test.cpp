// Costs of blocks and launches: divergence, waves and the tail, launches, barriers and double buffering.
#include "common/base/json.h"
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class Blocks : public Law {
 protected:
  // Runs `blocks` blocks, each with one chain of dependent FMAs; `resident` blocks fit on an SM.
  RunRecord wave(int blocks, int resident, int turns) {
    Buffer in{"in", {0.5f, 1, 1, 2, 3, 4, 5, 6, 7, 8}};
    Buffer out{"out", std::vector<float>(static_cast<std::size_t>(blocks) * threads(1))};
    const RunRecord record = run("arithmetic", {&in, &out, static_cast<int>(Chain::fma), 1, blocks, threads(1),
                                                shared_bytes_for(resident), turns});
    EXPECT_EQ(record.kernels[0].resident_blocks_per_sm, resident);
    return record;
  }
};

TEST_P(Blocks, LanesThatGoNWaysTakeNTimes) {
  // Enough warps to fill the FP32 pipe, which executes the branches' arithmetic.
  const int threads = most_threads(), blocks = few_sms();
  Buffer in{"in", {0.5f, 1, 1, 2, 3, 4, 5, 6, 7, 8}};
  Buffer out{"out", std::vector<float>(static_cast<std::size_t>(blocks) * threads)};
  double alone = 0;
  for (const int ways : {1, 2, 4}) {
    const auto of = [&](int turns) { return run("divergence", {&in, &out, ways, blocks, threads, turns}); };
    const RunRecord few = of(4), many = of(20);
    const auto more = [&](Counter counter) { return static_cast<double>(count(many, counter) - count(few, counter)); };
    expect_within(more(Counter::thread_instructions) / more(Counter::warp_instructions), 32.0 / ways, 0.01, "lanes");
    EXPECT_EQ(more(Counter::flops_f32), 2.0 * 16 * 64 * threads * blocks);
    const double time = cycles(many) - cycles(few);
    if (ways == 1) {
      alone = time;
      const double fmas = 16.0 * 64 * threads / machine_.fp32_lanes_per_sm;
      expect_within(time, fmas, 2 * kRateTolerance, "cycles of one way");
    }
    expect_within(time, ways * alone, kRateTolerance, std::to_string(ways) + " ways, cycles");
  }
}

TEST_P(Blocks, WavesAddUpAndATailIsAWave) {
  constexpr int kResident = 2, kTurns = 4;
  const int wave_blocks = kResident * machine_.sms;
  const double one = cycles(wave(wave_blocks, kResident, kTurns));
  const double expected = kTurns * 256 * machine_.alu_latency_cycles;
  EXPECT_GE(one, expected);
  EXPECT_LE(one, expected * (1 + kRateTolerance) + 2 * machine_.dram_latency_cycles) << "first, loads from DRAM";
  for (const int waves : {2, 3, 5}) {
    // Later waves hit in L2 or L1 when they load `in`, so they are slightly shorter.
    const double time = cycles(wave(waves * wave_blocks, kResident, kTurns));
    EXPECT_LE(time, waves * one * 1.02) << waves;
    EXPECT_GE(time, waves * expected) << waves;
  }
  const double tail = cycles(wave(wave_blocks + 1, kResident, kTurns));
  EXPECT_GE(tail, 2 * expected);
  EXPECT_LE(tail, 2 * one * 1.02);
}

TEST_P(Blocks, ALaunchCostsItsLaunch) {
  const double one = run("launch", {1, 1, 32}).elapsed_ns;
  EXPECT_GE(one, machine_.launch_ns);
  EXPECT_LE(one, machine_.launch_ns * (1 + kRateTolerance));
  const RunRecord many = run("launch", {20, 1, 32});
  EXPECT_EQ(many.kernels.size(), 20u);
  expect_within(many.elapsed_ns, 20 * one, 1e-9, "ns");
}

// A second device opened from the same machine file gives the same JSON, byte for byte.
TEST_P(Blocks, TimeIsTheSameEveryTime) {
  std::string text[2];
  for (std::string& json : text) {
    const std::vector<float> values(16384, 1.0f);
    Buffer a{"a", values}, b{"b", values}, c{"c", values};
    json = json_line(to_json(run_roof("memory", a, b, c, {.kernel = 3, .blocks = 4})));
    runner_ = std::make_unique<Runner>(device());
  }
  EXPECT_EQ(text[0], text[1]);
}

// A block loads a tile, waits, computes for as long as DRAM takes, and repeats. If it is alone on its SM, loading the
// next tile in advance makes it faster. With several blocks per SM it does not, because the others compute meanwhile.
TEST_P(Blocks, DoubleBufferingPaysWhereNothingElseHidesLatency) {
  constexpr int kWarps = 2, kFmasPerStep = 32, kFew = 8, kMany = 24;
  const int threads = this->threads(kWarps);
  const int crowd = std::min(6, machine_.max_threads_per_sm / threads);
  ASSERT_GE(crowd, 4);
  // Four chains in each of two warps per scheduler fill the pipe.
  const double fma = std::max(interval(machine_.fp32_lanes_per_sm), machine_.alu_latency_cycles / (4 * kWarps));
  const double tiles_bytes = 1.0 * machine_.sms * threads * sizeof(float);
  const double dram = machine_.dram_latency_cycles + tiles_bytes / dram_bytes_per_clock();
  // Rounded up to a multiple of four, by which the compiler unrolls the loop.
  const int steps = (static_cast<int>(dram / (kWarps * kFmasPerStep * fma)) / 4 + 1) * 4;
  const double work = steps * kWarps * kFmasPerStep * fma;
  const double around = machine_.barrier_latency_cycles + machine_.shared_latency_cycles;
  struct Reading {
    double cycles_per_tile, dram, barrier;  // waits as shares of the warps' cycles
  };
  const auto of = [&](int buffers, int resident) {
    const int blocks = machine_.sms * resident;
    Buffer a{"a", std::vector<float>(static_cast<std::size_t>(blocks) * threads * kMany, 1.0f)};
    Buffer out{"out", std::vector<float>(static_cast<std::size_t>(blocks) * threads)};
    const auto tiles = [&](int n) {
      return run("double_buffer", {&a, &out, buffers, blocks, threads, shared_bytes_for(resident), n, steps});
    };
    const RunRecord few = tiles(kFew), many = tiles(kMany);
    EXPECT_EQ(many.kernels[0].resident_blocks_per_sm, resident);
    const KernelRecord& kernel = many.kernels[0];
    return Reading{(cycles(many) - cycles(few)) / (kMany - kFew), share(kernel, Wait::dram),
                   share(kernel, Wait::barrier)};
  };
  const Reading one = of(1, 1), two = of(2, 1), one_of_many = of(1, crowd), two_of_many = of(2, crowd);

  // The measured time also contains the loop's own instructions.
  const auto expect_little_above = [](double value, double expected, const char* what) {
    EXPECT_GE(value, 0.98 * expected) << what;
    EXPECT_LE(value, 1.35 * expected) << what;
  };
  // A block alone: latency and work add up with one buffer, and overlap with two.
  const double in_turn = machine_.dram_latency_cycles + work + around + machine_.barrier_latency_cycles;
  const double at_once = std::max(machine_.dram_latency_cycles, work) + around;
  expect_little_above(one.cycles_per_tile, in_turn, "one, alone");
  expect_little_above(two.cycles_per_tile, at_once, "two, alone");
  EXPECT_GE(one.cycles_per_tile / two.cycles_per_tile, 0.9 * in_turn / at_once);
  // With many blocks per SM, both kernels keep the pipe busy.
  expect_little_above(one_of_many.cycles_per_tile, crowd * work, "one, in a crowd");
  expect_little_above(two_of_many.cycles_per_tile, crowd * work, "two, in a crowd");
  EXPECT_LE(one_of_many.cycles_per_tile / two_of_many.cycles_per_tile, 1.2);
  // The recorded waits agree. A block alone with one buffer waits, for DRAM or at a barrier, for the share of its time
  // that the latency takes. With two buffers, it hardly waits for DRAM.
  const double latency_part =
      (machine_.dram_latency_cycles + 2 * machine_.barrier_latency_cycles) / one.cycles_per_tile;
  EXPECT_GE(one.dram + one.barrier, latency_part - 0.05) << "those that came through wait for those that did not";
  EXPECT_GE(one.dram, latency_part / 2);
  EXPECT_LE(two.dram, one.dram / 4);
}

// One block does all the work; thousands exit at once. The grid waits for that block, whether it is sampled or not.
TEST_P(Blocks, EmptyBlocksHideNoSlowOne) {
  constexpr int n = 1 << 18;
  Buffer a{"a", std::vector<float>(n, 1.0f)}, c{"c", std::vector<float>(n)};
  const auto of = [&](int blocks, int worker) { return cycles(run("straggler", {&a, &c, n, blocks, worker})); };
  const double alone = of(1, 0);
  for (const int blocks : {3000, 20000}) {
    for (const int worker : {0, 1, 2}) EXPECT_GE(of(blocks, worker), 0.2 * alone) << blocks << ' ' << worker;
  }
}

// In one block of a sampled grid, warps wait for each other at flags. All blocks run the same instructions.
TEST_P(Blocks, OthersHideNoneWhoseWarpsWaitForEachOther) {
  constexpr int kWaves = 8;
  const int blocks = kWaves * machine_.sms;
  Buffer out{"out", std::vector<float>(1024)};
  const auto of = [&](int kind, int grid, int block_in_turn) {
    return cycles(run("one_in_turn", {&out, kind, grid, shared_bytes_for(1) - 3072, block_in_turn}));
  };
  for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const double alone = of(kind, 1, 0), usual = of(kind, blocks, -1);
    EXPECT_GE(of(kind, blocks, blocks - 1), 0.9 * (usual * (kWaves - 1) / kWaves + alone)) << kind;
  }
}

// A kernel must not get faster by detecting which blocks the timing model samples and idling in those. Runs one block
// per SM at a time, so that no pipe is full and only the sample determines the time.
TEST_P(Blocks, IdlingWhereItIsSampledHidesNoWork) {
  constexpr int kBlocks = 1024, kTurns = 20000;  // so many that at most one block in 32 is sampled
  Buffer c{"c", std::vector<float>(32)};
  const auto of = [&](int idle) {
    return cycles(run("knows_the_sample", {&c, kBlocks, shared_bytes_for(1), kTurns, idle}));
  };
  EXPECT_GE(of(1), 0.8 * of(0));
}

ROOFWALK_ON_ALL_MACHINES(Blocks);

class ManyBlocks : public Blocks {};

// A grid larger than the problem: blocks that exit at once cost little more than their dispatch and make nothing
// faster.
TEST_P(ManyBlocks, SpareBlocksChangeNothing) {
  constexpr int kRows = 32, kThreads = 128, kResident = 4;
  static constexpr int kTurns = 512;
  const int working = 8 * kResident * machine_.sms;
  Buffer a{"a", std::vector<float>(static_cast<std::size_t>(working) * kRows * kThreads, 1.0f)};
  Buffer c{"c", std::vector<float>(static_cast<std::size_t>(working) * kThreads)};
  const auto of = [&](int blocks, int order) {
    return cycles(run("spare_blocks", {&a, &c, blocks, shared_bytes_for(kResident), kTurns, working, order}));
  };
  const double alone = of(working, 0);
  for (const int spare : {1, working / 2, working, 3 * working}) {
    EXPECT_NEAR(of(working + spare, 0) / alone, 1, 0.05) << spare << " behind";
    EXPECT_NEAR(of(working + spare, 1) / alone, 1, 0.1) << spare << " before";
  }
  const double dispatched = 3 * working * machine_.block_dispatch_cycles;
  EXPECT_NEAR(of(4 * working, 2) / (alone + dispatched / 2), 1, 0.1 + dispatched / 2 / alone) << "in between";
}

INSTANTIATE_TEST_SUITE_P(On, ManyBlocks, testing::ValuesIn(small_law_machines()), name_of_machine);
INSTANTIATE_TEST_SUITE_P(OnAWholeChip, ManyBlocks, testing::Values("h100-sxm"), name_of_machine);

}  // namespace
}  // namespace roofwalk::test
