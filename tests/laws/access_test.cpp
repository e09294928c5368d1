// The cost of access patterns: strides, bank conflicts, and loads that may or may not pass a store.
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class Access : public Law {};

TEST_P(Access, TimeFollowsTheSectorsOfAStride) {
  constexpr int kThreads = 64, kLoads = 16;
  const double rate = dram_stream_bytes_per_clock(1);
  for (const int stride : {1, 2, 4, 8, 16, 32}) {
    const int sectors = std::min(32, 4 * stride);
    const double block_bytes = 1.0 * kThreads / 32 * kLoads * sectors * 32;
    const double of_an_sm = 20 * rate * machine_.dram_latency_cycles / machine_.sms;
    const int blocks = machine_.sms * (static_cast<int>(of_an_sm / block_bytes) + 1);
    const std::size_t floats = static_cast<std::size_t>(blocks) * kThreads * kLoads * static_cast<unsigned>(stride);
    Buffer a{"a", std::vector<float>(floats, 1.0f)}, c{"c", {0}};
    const RunRecord record = run("strides", {&a, &c, stride, blocks, kThreads});
    const auto requests = static_cast<std::uint64_t>(blocks) * kThreads / 32 * kLoads;
    EXPECT_EQ(count(record, Counter::global_load_requests), requests);
    EXPECT_EQ(count(record, Counter::l1_read_sectors), requests * static_cast<unsigned>(sectors));
    // DRAM may deliver a pair of sectors at least.
    const int bytes = stride < 16 ? 32 : machine_.dram_access_bytes;
    EXPECT_EQ(count(record, Counter::dram_read_bytes), requests * static_cast<unsigned>(sectors * bytes));
    // L1 looks up so many lines in a clock, and the words of a stride that is a power of two share banks.
    const double at_l1 = std::max(stride / machine_.l1_lines_per_clock, stride * 128 / machine_.l1_bytes_per_clock);
    const double expected =
        std::max(block_bytes * blocks * bytes / 32 / rate, static_cast<double>(requests) / machine_.sms * at_l1);
    expect_within(cycles(record), machine_.dram_latency_cycles + expected, 0.12,
                  "stride " + std::to_string(stride) + ", cycles");
  }
}

TEST_P(Access, BankConflictsOfKLanesCostKWavefronts) {
  constexpr int kTurns = 16, kReads = 32;
  const int threads = most_threads(), blocks = few_sms();
  Buffer c{"c", std::vector<float>(static_cast<std::size_t>(blocks) * threads)};
  for (const int ways : {1, 2, 4, 8, 16, 32}) {
    const auto of = [&](int turns) { return run("shared", {&c, ways, blocks, threads, turns}); };
    const RunRecord few = of(2), many = of(2 + kTurns);
    const double reads = 1.0 * kTurns * kReads * threads / 32;  // per SM
    const auto more = [&](Counter counter) { return static_cast<double>(count(many, counter) - count(few, counter)); };
    EXPECT_EQ(more(Counter::shared_wavefronts), reads * blocks * ways);
    EXPECT_EQ(more(Counter::shared_bank_conflicts), reads * blocks * (ways - 1));
    const double each = std::max(ways * 128 / machine_.shared_bytes_per_clock, shared_interval());
    // Each read comes with an addition, and each turn of the loop has about a dozen other instructions.
    const double issue = (2.0 + 12.0 / kReads) / machine_.schedulers_per_sm;
    const double add = 32.0 / machine_.fp32_lanes_per_sm;
    expect_within((cycles(many) - cycles(few)) / reads, std::max({each, issue, add}), kRateTolerance,
                  std::to_string(ways) + " ways, cycles a read and SM");
  }
}

// One warp, so that nothing hides a latency. With __restrict__, ptxas hoists all eight loads of four unrolled steps
// (LDG x 8, then FADD and STG four times). Without it, a store may change the next loads, and ptxas keeps LDG LDG FADD
// STG four times (read with nvdisasm). So four steps take one latency or four.
TEST_P(Access, LoadsThatMayNotPassAStoreWaitForIt) {
  constexpr int kTurns = 256, kUnroll = 4;
  Buffer a{"a", std::vector<float>(kTurns * 32, 1.0f)}, b{"b", std::vector<float>(kTurns * 32, 2.0f)};
  double time[2];
  for (const int is_restrict : {0, 1}) {
    Buffer c{"c", std::vector<float>(kTurns * 32)};
    const auto of = [&](int turns) { return cycles(run("restrict", {&a, &b, &c, is_restrict, 1, 32, turns})); };
    time[is_restrict] = (of(kTurns) - of(kTurns / 2)) / (kTurns / 2 / kUnroll);
    EXPECT_EQ(c.values, std::vector<float>(kTurns * 32, 3.0f));
  }
  // The slack covers the addition, the store and the loop's own instructions, which issue in order.
  const double slack =
      6 * machine_.alu_latency_cycles + 2 * kUnroll * std::max(memory_interval(), 128 / machine_.l1_bytes_per_clock);
  EXPECT_GE(time[0], kUnroll * machine_.dram_latency_cycles);
  EXPECT_LE(time[0], kUnroll * (machine_.dram_latency_cycles + slack));
  EXPECT_GE(time[1], machine_.dram_latency_cycles);
  EXPECT_LE(time[1], machine_.dram_latency_cycles + kUnroll * slack);
}

// A GPU-wide fence waits until its warp's earlier stores have reached L2; a block-wide fence does not.
TEST_P(Access, AFenceWaitsForTheStoresBeforeIt) {
  constexpr int kTurns = 32;
  Buffer c{"c", {0}};
  const auto turn_of = [&](int stores, int kind) {
    const auto of = [&](int turns) { return cycles(run("fences", {&c, stores, kind, turns})); };
    return (of(2 + kTurns) - of(2)) / kTurns;
  };
  const double fence = turn_of(0, 1), store = turn_of(1, 0);
  EXPECT_LT(store, machine_.l2_latency_cycles / 2);
  EXPECT_LT(turn_of(1, 2), machine_.l2_latency_cycles / 2 + turn_of(0, 2));
  EXPECT_GE(turn_of(1, 1), machine_.l2_latency_cycles);
  EXPECT_LE(turn_of(1, 1), machine_.l2_latency_cycles + fence + store + machine_.shared_latency_cycles);
}

// Loads that bypass L1 take L2's latency each time; so do loads after a GPU-wide fence, which empties L1 (CCTL.IVALL).
// Loads of block scope use L1.
TEST_P(Access, LoadsThatL1MayNotAnswerAreOfL2) {
  constexpr int kTurns = 64, kThroughL1 = 3, kKinds = 10;
  Buffer next{"next", {0}}, out{"out", {0}};
  for (int kind = 0; kind < kKinds; ++kind) {
    const auto of = [&](int turns) { return run("past_l1", {&next, &out, kind, turns}); };
    const RunRecord few = of(2), many = of(2 + kTurns);
    const bool hits = kind < kThroughL1;
    const auto more = [&](Counter counter) { return count(many, counter) - count(few, counter); };
    EXPECT_EQ(more(Counter::l1_read_sectors), kTurns) << kind;
    EXPECT_EQ(more(Counter::l2_read_sectors), hits ? 0 : kTurns) << kind;
    const double latency = hits ? machine_.l1_latency_cycles : machine_.l2_latency_cycles;
    const double turn = (cycles(many) - cycles(few)) / kTurns;
    EXPECT_GE(turn, latency) << kind;
    EXPECT_LE(turn, latency + 40 * machine_.alu_latency_cycles) << kind;  // room for the loop and the fence
  }
}

// Each addition is a compare-and-swap loop. When several lanes have read a word, the swap of only one succeeds; the
// others read the word again. Another warp's swap may come as soon as a load's latency later.
TEST_P(Access, FloatsAddedToAWordOfSharedMemoryComeOneAfterTheOther) {
  constexpr int kTurns = 8;
  const double swap = machine_.shared_swap_cycles, apart = machine_.shared_latency_cycles;
  Buffer c{"c", std::vector<float>(32)};
  for (const int warps : {1, 4}) {
    for (const int ways : {1, 2, 8, 32}) {
      const auto of = [&](int turns) { return cycles(run("retries", {&c, ways, 1, 32 * warps, turns})); };
      const double turn = (of(2 + kTurns) - of(2)) / kTurns;
      EXPECT_EQ(c.values[0], static_cast<float>(ways * warps * 2));
      // What a turn takes beyond the swaps: the barrier, the first read, and the loop's own instructions.
      const double beside = machine_.barrier_latency_cycles + machine_.shared_latency_cycles +
                            12 * machine_.alu_latency_cycles + 2 * machine_.branch_latency_cycles +
                            warps * machine_.barrier_warp_cycles;
      const double last = ways * (warps - 1) * apart + ways * swap;
      EXPECT_GE(turn, 0.98 * last) << ways << " lanes of " << warps << " warps";
      EXPECT_LE(turn, last + beside) << ways << " lanes of " << warps << " warps";
    }
  }
}

// In each warp, 20 lanes add to a word of their own warp and 12 lanes to a word common to all warps. The common word
// gets more swaps than any other; the last warp begins behind those of the others and then takes its own.
TEST_P(Access, TheSwapsOfEveryWordAreCounted) {
  constexpr int kTurns = 8, kWarps = 8, kOwn = 20, kCommon = 12;
  Buffer c{"c", {0}};
  const auto of = [&](int turns) { return cycles(run("retries", {&c, -1, 1, 32 * kWarps, turns})); };
  const double turn = (of(2 + kTurns) - of(2)) / kTurns;
  const double others = kCommon * (kWarps - 1) * machine_.shared_latency_cycles;
  EXPECT_GE(turn, 0.98 * (others + kCommon * machine_.shared_swap_cycles));
  const double beside = machine_.barrier_latency_cycles + kWarps * machine_.barrier_warp_cycles +
                        machine_.shared_latency_cycles + 12 * machine_.alu_latency_cycles +
                        2 * machine_.branch_latency_cycles;
  EXPECT_LE(turn, 1.05 * (others + kOwn * machine_.shared_swap_cycles + beside));
}

// The swaps of the whole grid are serialized, however many of its SMs are simulated.
TEST_P(Access, HalvesAddedToAWordOfGlobalMemoryComeOneAfterTheOther) {
  constexpr int kTurns = 8, kWarps = 2;
  const double swap = machine_.l2_latency_cycles + 2 * machine_.alu_latency_cycles;
  for (const int blocks : {1, machine_.sms, 20 * machine_.sms}) {
    Buffer c{"c", {0}};
    const double all = cycles(run("retries", {&c, 0, blocks, 32 * kWarps, kTurns}));
    expect_within(all, swap * 32 * kWarps * kTurns * blocks, 0.1, std::to_string(blocks) + " blocks, cycles");
  }
}

// The kinds of updates.cu.
enum UpdatedWords { kGlobalWords, kSharedWords, kSharedWordsByLanes };

// Additions of a constant 1 to shared memory count lanes, so that only different words of a bank take turns; of a value
// that the compiler does not know, each lane of a bank takes a turn.
TEST_P(Access, SharedMemoryCountsLanesThatAddOne) {
  constexpr int kTurns = 8, kUnroll = 16;
  struct Pattern {
    int lanes, apart, words_of_a_bank, lanes_of_a_bank;
  };
  const int block_threads = threads(2);
  Buffer c{"c", std::vector<float>(1024)};
  for (const Pattern& pattern : {Pattern{32, 1, 1, 32}, Pattern{4, 1, 1, 4}, Pattern{4, 32, 8, 32}}) {
    for (const UpdatedWords kind : {kSharedWords, kSharedWordsByLanes}) {
      const auto of = [&](int turns) {
        return cycles(run("updates", {&c, kind, pattern.lanes, pattern.apart, 1, block_threads, turns}));
      };
      const int wavefronts = kind == kSharedWords ? pattern.words_of_a_bank : pattern.lanes_of_a_bank;
      const double requests = 1.0 * kTurns * kUnroll * block_threads / 32;
      const double each = std::max(wavefronts * 128 / machine_.shared_bytes_per_clock, shared_interval());
      expect_within(
          (of(3 * kTurns) - of(2 * kTurns)) / requests, each, 0.1,
          std::to_string(pattern.lanes) + " lanes a word, " + std::to_string(wavefronts) + " wavefronts, cycles");
    }
  }
}

// Additions of integers in L2: `lanes` lanes of each warp share a word, and the words are `apart` words apart.
TEST_P(Access, L2UpdatesAWordForOneLaneAfterTheOther) {
  constexpr int kTurns = 16, kUnroll = 16, kEnough = 256;
  if (machine_.sectors_in_flight_per_sm < kEnough)
    GTEST_SKIP() << "an SM has too few sectors in flight to keep L2 busy";
  Buffer c{"c", std::vector<float>(1 << 16)};
  const auto request_of = [&](int lanes, int words_apart, int block_count) {
    const auto of = [&](int turns) {
      return cycles(run("updates", {&c, kGlobalWords, lanes, words_apart, block_count, 32, turns}));
    };
    return (of(3 * kTurns) - of(kTurns)) / (2 * kTurns * kUnroll);
  };
  // The least cycles of a request for all that comes before the sectors themselves.
  const auto before = [&](double updates, double sectors) {
    return std::max({updates * 32 / machine_.l2_port_write_bytes_per_clock, updates / machine_.atomic_updates_per_clock,
                     sectors * 32 / machine_.l2_bytes_per_clock});
  };
  // One warp, whose words lie in sectors of their own.
  for (const int lanes : {2, 8, 32}) {
    expect_within(request_of(lanes, 8, 1), std::max(machine_.update_cycles(lanes, false), before(32, 32.0 / lanes)),
                  0.06, std::to_string(lanes) + " lanes, cycles");
  }
  // Words side by side are updated together, in four sectors. Two SMs keep these busy.
  expect_within(request_of(1, 1, 2) / 2, std::max(machine_.atomic_request_cycles, before(4, 4)), 0.06,
                "a line, cycles");
  // All SMs add to one word.
  expect_within(request_of(32, 0, machine_.sms) / machine_.sms, machine_.update_cycles(32, false), 0.06,
                "all SMs, cycles a request");
}

ROOFWALK_ON_ALL_MACHINES(Access);

}  // namespace
}  // namespace roofwalk::test
