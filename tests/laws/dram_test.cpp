// DRAM by its pages and by its mixture of reads and writes, and L2 by its halves.
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

class Dram : public Law {};

// Every lane reads one sector of a page of its own.
TEST_P(Dram, OpensSoManyPagesInASecond) {
  constexpr int kThreads = 64, kLoads = 16, kBlocksPerSm = 16;
  const int stride = machine_.dram_page_bytes / 4, blocks = kBlocksPerSm * machine_.sms;
  const std::size_t pages = std::size_t{kThreads} * kLoads * static_cast<unsigned>(blocks);
  Buffer c{"c", {0}};
  auto a = runner_->device().allocate("a", pages * static_cast<unsigned>(machine_.dram_page_bytes), 4);
  ASSERT_TRUE(a) << a.error().text();
  const RunRecord record = run("strides", {*a, &c, stride, blocks, kThreads});
  EXPECT_EQ(count(record, Counter::dram_read_bytes), pages * static_cast<unsigned>(machine_.dram_access_bytes));
  const double opens = machine_.dram_page_opens_per_s, page = opens == 0 ? 0 : machine_.clock_hz / opens;
  const double sectors = std::max(machine_.dram_access_bytes / dram_bytes_per_clock(),
                                  32 / in_flight_bytes_per_clock(machine_.dram_latency_cycles, 32));
  expect_within(cycles(record), machine_.dram_latency_cycles + static_cast<double>(pages) * std::max(page, sectors),
                0.12, "cycles");
}

// Half of the lines are at home in the half of L2 that is not the second SM's own.
TEST_P(Dram, TheOtherHalfOfL2IsFar) {
  constexpr int kHops = 1024;
  Buffer ends{"ends", {0, 0}};
  const RunRecord record = run("halves", {nodes(kHops, 1), &ends, kHops});
  expect_within(cycles(record.kernels.at(1)) / kHops, machine_.l2_latency_cycles, kRateTolerance, "cycles, again");
  const double far = std::max(machine_.l2_far_latency_cycles, machine_.l2_latency_cycles);
  expect_within(cycles(record.kernels.at(2)) / kHops, (machine_.l2_latency_cycles + far) / 2, kRateTolerance,
                "cycles, another SM");
}

ROOFWALK_ON_ALL_MACHINES(Dram);

}  // namespace
}  // namespace roofwalk::test
