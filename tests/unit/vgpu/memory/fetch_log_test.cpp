// Tests which lines of a cache may still be in flight, and which request fetched them.
#include "common/vgpu/memory/fetch_log.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

Machine small_machine() {
  Machine machine;
  machine.sectors_in_flight_per_sm = 4;
  machine.dram_latency_cycles = 100;
  return machine;
}

TEST(FetchLog, FindsWhoFetchedUntilOthersMustHaveArrivedInstead) {
  FetchLog log(small_machine(), 1);
  WarpTrace trace;
  trace.block = 7;
  trace.warp = 3;
  EXPECT_EQ(log.find(1), nullptr);
  log.note(1, trace, 20);
  const Fetch* const fetch = log.find(1);
  ASSERT_NE(fetch, nullptr);
  EXPECT_EQ(fetch->block, 7u);
  EXPECT_EQ(fetch->warp, 3u);
  EXPECT_EQ(fetch->outcome, 20u);
  EXPECT_EQ(log.find(5), nullptr);  // the log has one place for lines 1 and 5
  log.note(5, trace, 24);
  EXPECT_EQ(log.find(1), nullptr);
}

TEST(FetchLog, KnowsWhetherAnAtomicHasChangedWhatWasFetched) {
  FetchLog log(small_machine(), 1);
  WarpTrace trace;
  log.note(1, trace, 20);
  EXPECT_FALSE(log.find(1)->changed);
  log.note_change(1);
  EXPECT_TRUE(log.find(1)->changed);
  log.note(5, trace, 24);  // in the place of fetch 1
  log.note_change(1);
  EXPECT_FALSE(log.find(5)->changed);
}

TEST(FetchLog, WhatWasFetchedALatencyAgoHasArrived) {
  FetchLog log(small_machine(), 1);
  log.begin_round(1, 0);   // fetches 1 and 2
  log.begin_round(3, 40);  // fetch 3
  log.begin_round(4, 99);
  EXPECT_TRUE(log.may_arrive(2, 4));
  log.begin_round(4, 140);  // the first round's fetches ended at 40
  EXPECT_FALSE(log.may_arrive(2, 4));
  EXPECT_TRUE(log.may_arrive(3, 4));
}

// Rounds that have ended are forgotten a few at a time.
TEST(FetchLog, ManyRoundsLeaveTheNewestAlone) {
  FetchLog log(small_machine(), 1);
  for (std::uint32_t round = 0; round < 1000; ++round) {
    log.begin_round(1 + round, 60.0 * round);
    const std::uint32_t next = 2 + round;
    EXPECT_TRUE(log.may_arrive(next - 1, next)) << round;
    if (round < 3) continue;
    EXPECT_TRUE(log.may_arrive(next - 3, next)) << round;
    EXPECT_FALSE(log.may_arrive(next - 4, next)) << round;  // its round ended 120 cycles ago
  }
}

TEST(FetchLog, PlacesOfALargeCacheAreApart) {
  FetchLog log(small_machine(), 256);  // 1,024 places
  WarpTrace trace;
  for (const std::uint32_t number : {1u, 64u, 65u, 1000u}) {
    EXPECT_EQ(log.find(number), nullptr);
    log.note(number, trace, number);
  }
  for (const std::uint32_t number : {1u, 64u, 65u, 1000u}) EXPECT_EQ(log.find(number)->outcome, number);
  log.note(1 + 1024, trace, 7);
  EXPECT_EQ(log.find(1), nullptr);
  EXPECT_EQ(log.find(66), nullptr);
}

TEST(FetchLog, NoMoreAreOnTheirWayThanFit) {
  FetchLog log(small_machine(), 1);
  log.begin_round(1, 0);
  EXPECT_TRUE(log.may_arrive(1, 5));
  EXPECT_FALSE(log.may_arrive(1, 6));
}

}  // namespace
}  // namespace roofwalk::vgpu
