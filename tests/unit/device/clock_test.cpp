// The clock on real kernels: sampled as unsampled, and every warp cycle with a cause and a line.
#include <gtest/gtest.h>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(source_root() / file);
  return {std::istreambuf_iterator<char>(in), {}};
}

RunRecord vector_add(RunOptions::Time time, int n = 1 << 19) {
  Buffer a{"a", numbers(n)}, b{"b", numbers(n, 5)}, c{"c", std::vector<float>(n)};
  Runner runner;
  RunOptions options;
  options.time = time;
  auto record = runner.run(text_of("solutions/01-vector-add/step1_fill_the_machine.cu"), {&a, &b, &c, n}, options);
  EXPECT_TRUE(record.ok());
  return std::move(*record);
}

TEST(Clock, SampledTimeIsTheTimeOfTheWholeGrid) {
  const double sampled = vector_add(RunOptions::Time::clock).elapsed_ns;
  const double whole = vector_add(RunOptions::Time::whole_clock).elapsed_ns;
  EXPECT_NEAR(sampled / whole, 1, 0.03);
}

TEST(Clock, RepeatsToTheBit) {
  const RunRecord one = vector_add(RunOptions::Time::clock), two = vector_add(RunOptions::Time::clock);
  EXPECT_EQ(to_json(one), to_json(two));
}

TEST(Clock, AStreamRunsAtTheBandwidthAndWaitsForIt) {
  const RunRecord record = vector_add(RunOptions::Time::clock);
  const double bytes = 12.0 * (1 << 19);
  const double at_bandwidth_ns = bytes / 128e9 * 1e9;
  EXPECT_NEAR(record.elapsed_ns - 2500, at_bandwidth_ns, 0.05 * at_bandwidth_ns);
  const WarpCycles& waits = record.kernels[0].waits;
  EXPECT_GT(waits[Wait::dram], 0.5 * waits.total());
  WarpCycles lines;
  for (const LineCounters& line : record.kernels[0].lines) lines.add(line.waits);
  EXPECT_NEAR(lines.total() + waits[Wait::tail], waits.total(), 1e-6 * waits.total());
}

TEST(Clock, IsNeverBelowWhatTheCountsNeed) {
  const RunRecord record = vector_add(RunOptions::Time::clock);
  const TimeParts& parts = record.kernels[0].parts;
  EXPECT_GE(record.elapsed_ns, parts.launch_ns + parts.dram_ns);
}

}  // namespace
}  // namespace roofwalk::test
