// Little's law: the rate is the amount in flight divided by its latency, until a unit is saturated. Tested for bytes,
// for chains of instructions, and for resident warps.
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class Parallelism : public Law {
 protected:
  static constexpr double kNodeBytes = 256;  // bytes per hop of a warp

  // Returns the bytes per clock and SM if `in_flight` bytes of each SM are always in flight.
  double bandwidth(double in_flight) const {
    return std::min(in_flight / machine_.dram_latency_cycles, dram_stream_bytes_per_clock(1) / machine_.sms);
  }
  // Whether the rate is close to saturation. There, requests queue although there is room on average, and no formula
  // covers that range.
  bool near_the_knee(double in_flight) const {
    const double knee = dram_stream_bytes_per_clock(1) / machine_.sms * machine_.dram_latency_cycles;
    return in_flight > 0.7 * knee && in_flight < 1.5 * knee;
  }
};

TEST_P(Parallelism, BytesInFlightOverLatencyIsBandwidth) {
  constexpr int kHops = 16;
  const int most_warps = machine_.max_threads_per_block / 32;
  const double knee = dram_stream_bytes_per_clock(1) / machine_.sms * machine_.dram_latency_cycles;
  int below = 0, above = 0;
  for (const int chains : {1, 2, 4}) {
    for (int warps = 1; warps <= most_warps; warps *= 2) {
      const double in_flight = warps * chains * kNodeBytes;
      if (in_flight > 4 * knee) break;
      // Every hop reaches a new node.
      const auto all = static_cast<std::uint32_t>(machine_.sms * warps * chains);
      const DeviceBuffer chain = nodes(all * (2 * kHops + 1), all);
      const auto of = [&](int hops) { return chase(chain, chains, machine_.sms, warps * 32, 0, hops); };
      const RunRecord first = of(kHops), both = of(2 * kHops);
      runner_->device().release(chain);
      const double bytes = kNodeBytes * all * kHops;
      EXPECT_EQ(static_cast<double>(count(both, Counter::dram_read_bytes) - count(first, Counter::dram_read_bytes)),
                bytes);
      const double reached = bytes / (cycles(both) - cycles(first)) / machine_.sms;
      const std::string what =
          std::to_string(warps) + " warps, " + std::to_string(chains) + " loads each, bytes a clock and SM";
      EXPECT_LE(reached, bandwidth(in_flight) * (1 + kRateTolerance)) << what;
      if (near_the_knee(in_flight)) continue;
      expect_within(reached, bandwidth(in_flight), 0.1, what);
      ++(in_flight < knee ? below : above);
    }
  }
  EXPECT_GE(below, 3);
  EXPECT_GE(above, 1);
}

TEST_P(Parallelism, IndependentChainsRaiseTheRateUntilThePipeIsFull) {
  const double most = 1 / interval(machine_.fp32_lanes_per_sm);
  for (const int chains : {1, 2, 3, 4, 8}) {
    const double steps = 256 / chains * chains;
    // A scheduler's only warp does nothing until the turn's branch is taken.
    const double turn = cycles_per_turn(Chain::fma, chains, few_sms(), threads(1)) - machine_.branch_latency_cycles;
    expect_within(steps / turn, std::min(chains / machine_.alu_latency_cycles, most), kRateTolerance,
                  std::to_string(chains) + " chains, FMAs a clock and scheduler");
  }
}

TEST_P(Parallelism, MoreWarpsRaiseTheRateUntilThePipeIsFull) {
  const double most = 1 / interval(machine_.fp32_lanes_per_sm);
  for (int warps = 1; threads(warps) <= most_threads() && warps <= 12; warps = warps < 4 ? warps + 1 : warps + 4) {
    const double rate = 256.0 * warps / cycles_per_turn(Chain::fma, 1, few_sms(), threads(warps));
    expect_within(rate, std::min(warps / machine_.alu_latency_cycles, most), kRateTolerance,
                  std::to_string(warps) + " warps, FMAs a clock and scheduler");
  }
}

// The same work with more and more resident blocks gets faster until DRAM is saturated, and never slower after that.
TEST_P(Parallelism, OccupancyHelpsUntilItDoesNot) {
  constexpr int kHops = 16, kChains = 2, kThreads = 32;
  const double block_bytes = kThreads / 32 * kChains * kNodeBytes;
  int most = std::min(machine_.max_blocks_per_sm, machine_.max_threads_per_sm / kThreads);
  while ((most & (most - 1)) != 0) --most;
  const int blocks = machine_.sms * most;
  const auto all = static_cast<std::uint32_t>(blocks * kThreads / 32 * kChains);
  const DeviceBuffer chain = nodes(all * (kHops + 1), all);
  std::vector<double> times;
  for (int resident = 1; resident <= most; resident *= 2) {
    const RunRecord record = chase(chain, kChains, blocks, kThreads, shared_bytes_for(resident), kHops);
    ASSERT_EQ(record.kernels[0].resident_blocks_per_sm, resident);
    times.push_back(cycles(record));
    const double in_flight = resident * block_bytes;
    const double bytes = block_bytes * most * kHops;
    const std::string what = std::to_string(resident) + " resident blocks, cycles";
    // The first blocks are dispatched one by one, and each later one in a place begins a latency after the one before.
    const double starts = resident * machine_.sms * machine_.block_dispatch_cycles +
                          (1.0 * most / resident - 1) * machine_.block_start_cycles;
    if (!near_the_knee(in_flight)) expect_within(times.back(), bytes / bandwidth(in_flight) + starts, 0.15, what);
    EXPECT_LE(times.back(), *std::min_element(times.begin(), times.end()) * (1 + 3 * kRateTolerance)) << what;
  }
  EXPECT_GT(times.front() / times.back(), 1.5);
}

ROOFWALK_ON_ALL_MACHINES(Parallelism);

}  // namespace
}  // namespace roofwalk::test
