// Each dependent operation takes its full latency.
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class Latency : public Law {
 protected:
  // Returns the cycles per hop of one thread around a ring of `count` nodes, after `warm` hops.
  double hop(std::uint32_t count, int warm, int hops) {
    const DeviceBuffer ring = nodes(count, 1);
    const auto of = [&](int n) { return cycles(chase(ring, 1, 1, 1, 0, n)); };
    return (of(warm + hops) - of(warm)) / hops;
  }
  double step(Chain chain) { return cycles_per_turn(chain, 1, 1, 32) / 256; }
};

TEST_P(Latency, L1) { expect_within(hop(16, 16, 512), machine_.l1_latency_cycles, kRateTolerance, "cycles"); }

TEST_P(Latency, L2) {
  // Twice as many lines as L1 holds, with one sector used in each.
  const int lines = 2 * machine_.l1_bytes / 128;
  expect_within(hop(static_cast<std::uint32_t>(lines), lines, 512), machine_.l2_latency_cycles, kRateTolerance,
                "cycles");
}

TEST_P(Latency, Dram) { expect_within(hop(1024, 64, 512), machine_.dram_latency_cycles, kRateTolerance, "cycles"); }

// A loaded value that passes through a function arrives no sooner than the load, whichever way it is passed; the call
// adds the latency of its own instructions.
TEST_P(Latency, OfWhatFunctionsHandOver) {
  constexpr int kWarm = 64, kHops = 512;
  constexpr double kOfACall = 48;  // dependent instructions of a call
  const DeviceBuffer ring = nodes(1024, 1);
  const auto hop = [&](int form) {
    const auto of = [&](int hops) {
      Buffer end{"end", std::vector<float>(1)};
      const double cycles = this->cycles(run("handed", {ring, &end, form, hops}));
      EXPECT_EQ(end.values[0], hops % 1024);
      return cycles;
    };
    return (of(kWarm + kHops) - of(kWarm)) / kHops;
  };
  for (const int form : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(form);
    const double cycles = hop(form);
    EXPECT_GE(cycles, (1 - kRateTolerance) * machine_.dram_latency_cycles);
    EXPECT_LE(cycles, (1 + kRateTolerance) * machine_.dram_latency_cycles + kOfACall * machine_.alu_latency_cycles);
  }
}

TEST_P(Latency, SharedMemory) {
  const DeviceBuffer none = nodes(1, 1);
  const auto of = [&](int hops) { return cycles(chase(none, 0, 1, 32, 0, hops)); };
  const double turns = 32 * sizeof(float) / machine_.shared_bytes_per_clock;  // 2 where half a warp is served at a time
  expect_within((of(576) - of(64)) / 512, machine_.shared_latency_cycles + turns - 1, kRateTolerance, "cycles");
}

TEST_P(Latency, Fma) { expect_within(step(Chain::fma), machine_.alu_latency_cycles, kRateTolerance, "cycles"); }
TEST_P(Latency, FunnelShift) {
  expect_within(step(Chain::funnel_shift), machine_.alu_latency_cycles, kRateTolerance, "cycles");
}
TEST_P(Latency, FmaOfDoubles) {
  const double fp64 = std::max(machine_.fp64_latency_cycles, interval(machine_.fp64_lanes_per_sm));
  expect_within(step(Chain::fma_double), fp64, kRateTolerance, "cycles");
}
TEST_P(Latency, Special) {
  expect_within(step(Chain::exp2), machine_.special_latency_cycles, kRateTolerance, "cycles");
}
TEST_P(Latency, Shuffle) {
  expect_within(step(Chain::shuffle), machine_.shuffle_latency_cycles, kRateTolerance, "cycles");
}

TEST_P(Latency, Barrier) {
  const double cycles = cycles_per_turn(Chain::barrier, 1, 1, 32) / 32;
  expect_within(cycles, machine_.barrier_latency_cycles, 2 * kRateTolerance, "cycles");
}

TEST_P(Latency, TensorProduct) {
  Buffer out{"out", std::vector<float>(32)};
  const auto of = [&](int turns) { return cycles(run("tensor", {&out, 1, 1, 32, turns})); };
  // For m16n8k16. If the tensor cores are busy longer than the latency, their time counts.
  const double busy =
      16 * 8 * 16 / (machine_.tensor_fmas_per_clock * machine_.mma_sync_share / machine_.schedulers_per_sm);
  expect_within((of(5) - of(1)) / (4 * 32), std::max(machine_.tensor_latency_cycles, busy), kRateTolerance, "cycles");
}

// A lone warp's next instruction after a taken branch comes a branch's latency later. Its loop counter is ready by
// then.
TEST_P(Latency, OfABranchThatIsTaken) {
  constexpr int kTurns = 256;
  Buffer c{"c", std::vector<float>(32)};
  const auto of = [&](int turns) { return cycles(run("jumps", {&c, 32, turns})); };
  const double turn = (of(2 * kTurns) - of(kTurns)) / kTurns;
  // The counter and its comparison are issued between two branches.
  EXPECT_GE(turn, machine_.branch_latency_cycles + machine_.alu_latency_cycles);
  EXPECT_LE(turn, machine_.branch_latency_cycles + 3 * machine_.alu_latency_cycles);
}

ROOFWALK_ON_ALL_MACHINES(Latency);

}  // namespace
}  // namespace roofwalk::test
