// ptxas compiles guarded loads to predicated loads: all are in flight at once, and a load whose guard is false issues
// but requests nothing.
#include "tests/laws/law.h"

namespace roofwalk::test {
namespace {

constexpr int kTile = 32, kThreads = 256;

class Guards : public Law {
 protected:
  // Runs one block per SM, each of which loads the tiles of its 32 rows of the m x k matrix.
  RunRecord load(bool guarded, int m, int k) {
    const int blocks = machine_.sms;
    Buffer a{"a", std::vector<float>(static_cast<std::size_t>(blocks) * kTile * static_cast<std::size_t>(k), 1.0f)};
    Buffer c{"c", std::vector<float>(static_cast<std::size_t>(blocks) * kThreads)};
    RunRecord record = run("guards", {&a, &c, int{guarded}, blocks, m, k});
    sum_ = c.values.back();
    return record;
  }
  int all_rows() const { return machine_.sms * kTile; }
  static double issued(const RunRecord& record) { return record.kernels.at(0).waits[Wait::issued]; }

  float sum_ = 0;  // result of the last thread in the last load
};

TEST_P(Guards, AGuardCostsWhatAClampedAddressCosts) {
  for (const auto& [m, k] : {std::pair{all_rows(), 512}, std::pair{all_rows() - 9, 500}}) {
    const double guarded = cycles(load(true, m, k));
    const float sum = sum_;
    expect_within(guarded, cycles(load(false, m, k)), 0.1, "cycles");
    EXPECT_EQ(sum, sum_);
  }
}

TEST_P(Guards, LoadsOfATileAreOnTheirWayTogether) {
  // A warp loads its part of a tile with four loads. They are in flight together, so each further tile costs less than
  // two latencies and its transfer.
  const double one = cycles(load(true, all_rows(), kTile)), four = cycles(load(true, all_rows(), 4 * kTile));
  const double bytes = 3.0 * kTile * kTile * sizeof(float) * machine_.sms;
  const double transfer = bytes / std::min(dram_stream_bytes_per_clock(1), ports_bytes_per_clock());
  EXPECT_LT(four - one, 3 * 2.0 * machine_.dram_latency_cycles + transfer);
}

TEST_P(Guards, WhatIsOffIssuesAndAsksForNothing) {
  const RunRecord on = load(true, all_rows(), 8 * kTile), off = load(true, 0, 8 * kTile);
  EXPECT_EQ(count(off, Counter::l1_read_sectors), 0u);
  EXPECT_EQ(count(off, Counter::dram_read_bytes), 0u);
  EXPECT_EQ(share(off.kernels.at(0), Wait::dram), 0);
  EXPECT_DOUBLE_EQ(issued(off), issued(on));
  EXPECT_LT(cycles(off), cycles(on));
}

ROOFWALK_ON_ALL_MACHINES(Guards);

}  // namespace
}  // namespace roofwalk::test
