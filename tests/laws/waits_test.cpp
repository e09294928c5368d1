// Attribution of the warps' cycles, for kernels that can wait for only one thing.
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class Waits : public Law {
 protected:
  KernelRecord kernel(Chain chain, int chains, int blocks, int block_threads, int shared_bytes = 0) {
    Buffer in{"in", {0.5f, 1, 1, 2, 3, 4, 5, 6, 7, 8}};
    Buffer out{"out", std::vector<float>(static_cast<std::size_t>(blocks) * block_threads)};
    return run("arithmetic", {&in, &out, static_cast<int>(chain), chains, blocks, block_threads, shared_bytes, 8})
        .kernels.at(0);
  }
};

TEST_P(Waits, OfOneChainAreForItsResults) {
  const KernelRecord record = kernel(Chain::fma, 1, few_sms(), threads(1));
  const double issued = 1 / machine_.alu_latency_cycles;
  EXPECT_NEAR(share(record, Wait::issued), issued, 0.05);
  // The tolerance allows for the first loads, beside 2048 dependent steps.
  EXPECT_NEAR(share(record, Wait::dependency), 1 - issued,
              0.05 + machine_.dram_latency_cycles / (2048 * machine_.alu_latency_cycles));
}

TEST_P(Waits, OfAFullPipeAreForThePipeOrATurn) {
  const KernelRecord record = kernel(Chain::fma, 8, few_sms(), most_threads());
  EXPECT_GE(share(record, Wait::pipe) + share(record, Wait::issue) + share(record, Wait::issued), 0.9);
  EXPECT_GE(share(kernel(Chain::exp2, 8, few_sms(), most_threads()), Wait::pipe), 0.8);
}

TEST_P(Waits, OfAChainOfAddressesAreForItsLevel) {
  const int lines = 2 * machine_.l1_bytes / 128;
  const auto of = [&](std::uint32_t count, int hops) { return chase(nodes(count, 1), 1, 1, 1, 0, hops).kernels.at(0); };
  EXPECT_GE(share(of(16, 2048), Wait::l1), 0.8);
  EXPECT_GE(share(of(512, 256), Wait::dram), 0.9);
  // The first of four rounds misses L2 and goes to DRAM.
  const KernelRecord l2 = of(static_cast<std::uint32_t>(lines), 4 * lines);
  const double dram = machine_.dram_latency_cycles, rest = 3 * machine_.l2_latency_cycles;
  EXPECT_NEAR(share(l2, Wait::l2), rest / (dram + rest), 0.05);
  EXPECT_GE(share(chase(nodes(1, 1), 0, 1, 32, 0, 2048).kernels.at(0), Wait::shared), 0.8);
}

TEST_P(Waits, OfBankConflictsAreTold) {
  const int threads = most_threads();
  Buffer c{"c", std::vector<float>(static_cast<std::size_t>(threads))};
  const auto of = [&](int ways) { return run("shared", {&c, ways, 1, threads, 20}).kernels.at(0); };
  EXPECT_EQ(share(of(1), Wait::bank_conflict), 0);
  // A 32-way conflict takes 32 wavefronts, 31 of them because of the conflict.
  EXPECT_GE(share(of(32), Wait::bank_conflict), 0.8);
}

TEST_P(Waits, OfBarriersAreForBarriers) {
  EXPECT_GE(share(kernel(Chain::barrier, 1, few_sms(), threads(2)), Wait::barrier), 0.8);
}

// Warps that take turns need the sum of their times, however they synchronise.
TEST_P(Waits, OfWarpsInTurnAreForEachOther) {
  const auto cycles = [&](int kind, int rounds, int steps) {
    Buffer out{"out", std::vector<float>(64)};
    return run("meetings", {&out, kind, rounds, steps}).elapsed_ns * machine_.clock_hz / 1e9;
  };
  for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
    SCOPED_TRACE(kind);
    // A poll of global memory takes as long as some hundred steps, and a wait takes whole polls.
    const int more = kind < 10 ? 128 : 512;
    const double of_chains = (cycles(kind, 40, 64 + more) - cycles(kind, 40, 64)) / 40;
    constexpr int kUnroll = 8;  // a branch ends every eighth step
    const double both = 2 * more * (machine_.alu_latency_cycles + machine_.branch_latency_cycles / kUnroll);
    EXPECT_GE(of_chains, (kind < 10 ? 0.9 : 0.85) * both);
    if (kind < 6 || kind == 7) {  // in the other kinds, atomics or polls of global memory add time
      EXPECT_LE(of_chains, 1.15 * both);
    }
  }
}

// The same where the lanes that wait for the turn are others than those that run, which wait for them in the middle of
// a basic block.
TEST_P(Waits, OfLanesForOthersOfTheirWarpAreWhereTheyWait) {
  constexpr int kWarps = 4;
  const auto cycles = [&](int kind, int steps) {
    Buffer out{"out", {0}};
    return run("lane_turns", {&out, kind, steps}).elapsed_ns * machine_.clock_hz / 1e9;
  };
  for (const int kind : {0, 1, 2, 3}) {
    SCOPED_TRACE(kind);
    const double of_chains = cycles(kind, 96) - cycles(kind, 32), all = kWarps * 64 * machine_.shared_latency_cycles;
    EXPECT_GE(of_chains, 0.95 * all);
    // Of kind 2, a warp also issues the chains that are those of others, whose guards are false.
    EXPECT_LE(of_chains, (kind == 2 ? 1.3 : 1.15) * all);
  }
}

// Two warps take turns and sleep between their tries. Neither can see the other's flag at its first try, nor later than
// one sleep after it was set.
TEST_P(Waits, OfWarpsThatSleepAreForWholeSleeps) {
  constexpr int kRounds = 40, kSteps = 64;
  Buffer out{"out", std::vector<float>(64)};
  const double round = run("meetings", {&out, 12, kRounds, kSteps}).elapsed_ns * machine_.clock_hz / 1e9 / kRounds;
  const double nap = 2000e-9 * machine_.clock_hz, chains = 2.0 * kSteps * (machine_.alu_latency_cycles + 1);
  EXPECT_GE(round, nap);
  EXPECT_LE(round, 2 * nap + chains + 20 * machine_.shared_latency_cycles);
}

// A first look that comes before the flag is set is followed by the whole sleep, whatever form the wait has.
TEST_P(Waits, TakeTheSleepThatFollowsTheFirstLook) {
  constexpr int kNapNs = 100'000, kKinds = 6;
  Buffer out{"out", std::vector<float>(64)};
  for (int kind = 0; kind < kKinds; ++kind) {
    SCOPED_TRACE(kind);
    expect_within(run("naps", {&out, kind, kNapNs, 0.0f}).elapsed_ns, kNapNs, 0.1, "ns");
  }
}

// The same for blocks, on as many SMs as there are blocks.
TEST_P(Waits, OfBlocksInTurnAreForEachOther) {
  constexpr int kBlocks = 4;
  const auto cycles = [&](int kind, int steps) {
    Buffer out{"out", std::vector<float>(32 * kBlocks)};
    return run("block_turns", {&out, kind, steps, kBlocks}).elapsed_ns * machine_.clock_hz / 1e9;
  };
  for (const int kind : {0, 1, 2, 3, 4, 5}) {
    SCOPED_TRACE(kind);
    expect_within(cycles(kind, 1536) - cycles(kind, 512), kBlocks * 1024 * machine_.alu_latency_cycles, 0.1, "cycles");
  }
}

// None but the first can see its turn at its first try.
TEST_P(Waits, OfBlocksThatSleepAreForWholeSleeps) {
  constexpr int kBlocks = 4;
  constexpr double kNapNs = 20'000;
  Buffer out{"out", std::vector<float>(32 * kBlocks)};
  const auto elapsed_ns = [&](int kind, int blocks) {
    return run("block_turns", {&out, kind, 512, blocks}).elapsed_ns - machine_.launch_ns;
  };
  EXPECT_GE(elapsed_ns(6, kBlocks), (kBlocks - 1) * kNapNs);
  EXPECT_LE(elapsed_ns(6, kBlocks), kBlocks * kNapNs);
  // A sleep before the first try does not depend on it.
  EXPECT_GE(elapsed_ns(7, 2), 2 * kNapNs);
  EXPECT_LE(elapsed_ns(7, 2), 2.5 * kNapNs);
}

// Blocks that look back do not wait for each other's chains of FMAs, and a sleep that a look may take makes no
// difference to that.
TEST_P(Waits, OfBlocksThatLookBackAreNotInTurn) {
  constexpr int kBlocks = 8, kSteps = 512, kNapNs = 40;
  const auto cycles = [&](int ns) {
    Buffer out{"out", std::vector<float>(kBlocks)};
    return (run("look_back", {&out, ns, kBlocks}).elapsed_ns - machine_.launch_ns) * machine_.clock_hz / 1e9;
  };
  const double chain = kSteps * machine_.alu_latency_cycles;
  const double awake = cycles(0), asleep = cycles(kNapNs);
  const double memset = machine_.launch_ns * machine_.clock_hz / 1e9;
  EXPECT_LE(awake, 2 * chain + 3 * kBlocks * machine_.l2_latency_cycles + memset);
  EXPECT_LE(asleep, awake + chain);
}

TEST_P(Waits, OfASleepAreThoseOfTheLaneThatSleepsLongest) {
  Buffer out{"out", std::vector<float>(32)};
  const auto elapsed_ns = [&](int ns_per_lane) { return run("sleeps", {&out, ns_per_lane}).elapsed_ns; };
  expect_within(elapsed_ns(1000) - elapsed_ns(0), 31 * 1000, 0.01, "ns");
  expect_within(elapsed_ns(100'000) - elapsed_ns(0), 1'000'000, 0.01, "ns: no sleep is longer");
}

// Each SM has two block slots. The last wave fills only one slot of the whole GPU; the empty ones count as tail.
TEST_P(Waits, OfATailAreItsEmptyPlaces) {
  const int places = 2 * machine_.sms;
  const KernelRecord record = kernel(Chain::fma, 1, places + 1, threads(1), shared_bytes_for(2));
  const double empty = (places - 1) / (2.0 * places);
  EXPECT_NEAR(record.waits[Wait::tail] / record.waits.total(), empty, 0.05);
}

// Every warp slot is accounted for in every cycle.
TEST_P(Waits, AddUpToThePlacesTimesTheCycles) {
  const int threads = most_threads();
  const KernelRecord record = kernel(Chain::fma, 8, machine_.sms, threads);
  expect_within(record.waits.total(), threads / 32.0 * record.resident_blocks_per_sm * machine_.sms * cycles(record),
                0.05, "warp cycles");
}

ROOFWALK_ON_ALL_MACHINES(Waits);

}  // namespace
}  // namespace roofwalk::test
