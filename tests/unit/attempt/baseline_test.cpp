#include "grader/attempt/baseline.h"

#include <gtest/gtest.h>

#include "common/store/store.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

const StarterDot kStarter{{{"dram", {0.5, 1e9}}, {"l1", {0.25, 1e9}}}, true, 0.125, {{"active_lanes", 0.75}}};

class Baseline : public ::testing::Test {
 protected:
  Baseline() : store_(std::move(*Store::open(folder_.path() / "roofwalk.db"))) {
    rig_.store = &store_;
    rig_.counts_bytes = false;
  }

  test::ScratchFolder folder_;
  Store store_;
  Rig rig_;
};

TEST_F(Baseline, IsKeptByItsKey) {
  EXPECT_FALSE(kept_starter(rig_, "one"));
  ASSERT_TRUE(keep_starter(rig_, "one", kStarter));
  const auto kept = kept_starter(rig_, "one");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->points.at("l1").ai, 0.25);
  EXPECT_TRUE(kept->bytes_are_modelled);
  EXPECT_EQ(kept->sector_use, 0.125);
  EXPECT_EQ(kept->counts, (GoalCounts{{"active_lanes", 0.75}}));
  EXPECT_FALSE(kept_starter(rig_, "two"));
}

TEST_F(Baseline, IsNotKeptWhereCountingFailedThisTimeOnly) {
  rig_.counts_bytes = true;
  ASSERT_TRUE(keep_starter(rig_, "one", kStarter));
  EXPECT_FALSE(kept_starter(rig_, "one"));
}

TEST_F(Baseline, TakesThePlaceOfWhatCannotBeRead) {
  ASSERT_TRUE(store_.cache("one", "no JSON"));
  EXPECT_FALSE(kept_starter(rig_, "one"));
  ASSERT_TRUE(keep_starter(rig_, "one", kStarter));
  EXPECT_TRUE(kept_starter(rig_, "one"));
}

TEST_F(Baseline, IsNotLookedForWithoutAStore) {
  rig_.store = nullptr;
  EXPECT_TRUE(keep_starter(rig_, "one", kStarter));
  EXPECT_FALSE(kept_starter(rig_, "one"));
}

}  // namespace
}  // namespace roofwalk
