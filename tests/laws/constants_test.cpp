// Costs of constant memory loads: the latency of each cache level, and one pass for each distinct word.
#include <bit>

#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class ConstantLoads : public Law {
 protected:
  // Returns the cycles per load of a dependent chain through `words` words with stride `step`, after `warm` loads.
  double hop(int words, int step, int warm, int hops = 512) {
    const auto of = [&](int n) {
      Buffer c{"c", std::vector<float>(32)};
      return cycles(run("constants", {&c, 1, 0, words, step, n}));
    };
    return (of(warm + hops) - of(warm)) / hops;
  }
};

TEST_P(ConstantLoads, TakeTheLatencyOfTheirCache) {
  const auto words = static_cast<unsigned>(machine_.constant_l1_bytes / 4);
  const int line = machine_.constant_l1_line_bytes / 4;
  const auto fit = static_cast<int>(std::bit_floor(words)), too_many = static_cast<int>(std::bit_ceil(2 * words));
  // The address of the next load takes a three-operand addition, a mask and a shift (read with nvdisasm).
  // A branch ends every sixteenth hop.
  const double between =
      3 * machine_.alu_latency_cycles + (machine_.branch_latency_cycles - machine_.alu_latency_cycles) / 16;
  expect_within(hop(fit, line, 64), machine_.constant_l1_latency_cycles + between, kRateTolerance, "cycles");
  // The chain covers twice the capacity of the first cache, line by line, so it never hits there.
  expect_within(hop(too_many, line, 2 * too_many / line), machine_.constant_l15_latency_cycles + between,
                kRateTolerance, "cycles, of the second cache");
}

TEST_P(ConstantLoads, OfKWordsTakeKPasses) {
  constexpr int kReads = 8, kTurns = 32;
  const int threads = most_threads(), blocks = few_sms();
  for (const int words : {1, 2, 4, 8, 16, 32}) {
    const auto of = [&](int turns) {
      Buffer c{"c", std::vector<float>(static_cast<std::size_t>(blocks) * threads)};
      return run("constants", {&c, blocks, threads, words, 0, turns});
    };
    const RunRecord few = of(2), many = of(2 + kTurns);
    const double loads = 1.0 * kTurns * kReads * threads / 32;  // per SM
    const auto more = [&](Counter counter) { return static_cast<double>(count(many, counter) - count(few, counter)); };
    EXPECT_EQ(more(Counter::constant_requests), loads * blocks);
    EXPECT_EQ(more(Counter::constant_passes), loads * blocks * words);
    EXPECT_EQ(more(Counter::constant_misses), 0);
    EXPECT_EQ(more(Counter::l2_read_sectors), 0);
    const double each = std::max(words / machine_.constant_words_per_clock, memory_interval());
    // Each load comes with an addition, and each turn of the loop has a few other instructions.
    const double issue = (2.0 + 8.0 / kReads) / machine_.schedulers_per_sm;
    const double add = 32.0 / machine_.int_lanes_per_sm * (1 + 4.0 / kReads);
    expect_within((cycles(many) - cycles(few)) / loads, std::max({each, issue, add}), 2 * kRateTolerance,
                  std::to_string(words) + " words, cycles a load and SM");
    if (words == 32) {
      EXPECT_GE(share(many.kernels.at(0), Wait::constant), 0.8);
    }
  }
}

ROOFWALK_ON_ALL_MACHINES(ConstantLoads);

}  // namespace
}  // namespace roofwalk::test
