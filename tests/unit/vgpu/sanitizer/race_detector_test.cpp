// The sanitizer checks shared memory in two ways: quickly for whole accesses in lockstep, and closely word by word. If
// the quick check passes an access, the close one must, too, and all later findings must be equal.
#include "common/vgpu/sanitizer/race_detector.h"

#include <gtest/gtest.h>

#include <array>

#include "common/base/rng.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kWarps = 4, kWords = 256;

LaneOffsets offsets_of(int kind) {
  std::array<std::uint64_t, kWarpSize> of_lane{};
  for (std::size_t l = 0; l < kWarpSize; ++l) {
    const std::size_t words[] = {l, 0, l / 16, l % 16, 2 * l, l ^ 1};
    of_lane[l] = 4 * words[kind];
  }
  return make_lane_offsets(of_lane);
}

Access access_of(const LaneOffsets& offsets, std::uint64_t first) {
  std::uint64_t lanes[kWarpSize];
  for (std::size_t l = 0; l < kWarpSize; ++l) lanes[l] = first + offsets.of_lane[l];
  Access out;
  make_access(lanes, kAllLanes, 4, out);
  out.spell_out();
  return out;
}

struct Seen {
  int accesses = 0, passed = 0, found = 0, warned = 0;
};

// Gives both detectors the same accesses in the same order, up to the first fault, which would end the run.
void walk(std::uint64_t seed, int turns, Seen& seen) {
  RaceDetector quick(4 * kWords, 4, kWarps), close(4 * kWords, 4, kWarps);
  Rng rng(seed);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(rng.next() % limit); };
  const auto both = [&](auto&& step) { step(quick), step(close); };
  const std::uint32_t patterns = 6;
  const std::vector<std::uint32_t> everybody = {0, 1, 2, 3};
  // Writes all words but the last ones, so that reads of the last ones are uninitialised.
  both([&](RaceDetector& shadow) {
    for (std::uint64_t first = 0; first + 32 < kWords; first += 32)
      shadow.touch(0, 2 * patterns, access_of(offsets_of(0), 4 * first), SharedTouch::write);
    for (const std::uint32_t w : everybody) shadow.come_to_barrier(0, w);
    shadow.leave_barrier(0, everybody, {});
  });
  bool last_gone = false;  // whether the last warp has ended
  for (int turn = 0; turn < turns; ++turn) {
    const std::uint32_t what = below(100), warp = below(last_gone ? kWarps - 1 : kWarps);
    if (what < 12) {
      last_gone |= what == 3;
      std::vector<std::uint32_t> waiting = everybody, gone;
      if (last_gone) waiting.pop_back(), gone = {kWarps - 1};
      if (what < 3) waiting = {0, 1}, gone.clear();
      both([&](RaceDetector& shadow) {
        for (const std::uint32_t w : waiting) shadow.come_to_barrier(1, w);
        shadow.leave_barrier(1, waiting, gone);
      });
      continue;
    }
    if (what < 16) {
      const std::uint32_t lanes = what == 12 ? 0xffffu : kAllLanes;
      both([&](RaceDetector& shadow) { shadow.meet_in_warp(warp, lanes); });
      continue;
    }
    const std::uint32_t kind = below(patterns);
    const bool writes = below(5) == 0;
    const std::uint32_t pc = writes ? kind : patterns + kind;
    const LaneOffsets offsets = offsets_of(static_cast<int>(kind));
    // Most accesses are to the warp's own words; otherwise a race would end every walk after a few steps.
    const std::uint64_t first = 4 * (below(10) < 4 ? below(8) : 48 * warp + below(4));
    const Access access = access_of(offsets, first);
    const SharedTouch touch = writes ? SharedTouch::write : SharedTouch::read;
    const SharedWrites how{.unchanged = writes && below(4) == 0 ? kAllLanes : 0, .replaced = 0};
    ++seen.accesses;
    const auto finding = close.touch(warp, pc, access, touch, how);
    if (quick.touch_in_lockstep(warp, pc, first, offsets, 4, touch)) {
      ASSERT_FALSE(finding.has_value()) << "turn " << turn << ", pattern " << kind;
      ++seen.passed;
      continue;
    }
    const auto same = quick.touch(warp, pc, access, touch, how);
    ASSERT_EQ(same.has_value(), finding.has_value()) << "turn " << turn << ", pattern " << kind;
    if (!finding) continue;
    EXPECT_EQ(same->kind, finding->kind) << "turn " << turn;
    EXPECT_EQ(same->lane, finding->lane);
    EXPECT_EQ(same->byte, finding->byte);
    if (finding->kind == RaceDetector::Finding::Kind::same_value) {
      ++seen.warned;
      continue;
    }
    EXPECT_EQ(same->thread, finding->thread) << "turn " << turn << ", kind " << static_cast<int>(finding->kind);
    EXPECT_EQ(same->pc, finding->pc);
    ++seen.found;
    return;
  }
}

TEST(RaceDetector, LooksAtWholeAccessesAsItDoesAtWords) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 4000 && !HasFatalFailure(); ++seed) walk(seed, 60, seen);
  // The quick check passes some accesses but not all, and there are findings.
  EXPECT_GT(seen.passed, seen.accesses / 10);
  EXPECT_LT(seen.passed, seen.accesses);
  EXPECT_GT(seen.found, 300);
  EXPECT_GT(seen.warned, 5);
}

// The detector drops state that all warps have synchronized with. This neither causes a false race nor hides a real
// one.
TEST(RaceDetector, RemembersWhatCountsHoweverMuchCameBefore) {
  RaceDetector shadow(4 * kWords, 4, kWarps);
  const LaneOffsets offsets = offsets_of(0);
  const std::vector<std::uint32_t> all = {0, 1, 2, 3};
  const auto meet = [&] {
    for (const std::uint32_t warp : all) shadow.come_to_barrier(0, warp);
    shadow.leave_barrier(0, all, {});
  };
  ASSERT_TRUE(shadow.touch_in_lockstep(0, 1, 0, offsets, 4, SharedTouch::write));
  meet();
  for (int i = 0; i < 200'000; ++i) {
    ASSERT_TRUE(shadow.touch_in_lockstep(1, 2, 0, offsets, 4, SharedTouch::read)) << i;
    if (i % 1000 == 0) meet();
  }
  EXPECT_FALSE(shadow.touch_in_lockstep(2, 3, 0, offsets, 4, SharedTouch::write));
  const auto race = shadow.touch(2, 3, access_of(offsets, 0), SharedTouch::write);
  ASSERT_TRUE(race.has_value());
  EXPECT_EQ(race->kind, RaceDetector::Finding::Kind::race);
  EXPECT_EQ(race->thread, 32u);
  EXPECT_EQ(race->pc, 2u);
  meet();
  EXPECT_TRUE(shadow.touch_in_lockstep(2, 3, 0, offsets, 4, SharedTouch::write));
}

// Ten thousand loads with the same offsets, in a hundred blocks, cost the time and the memory of one.
TEST(TouchPatterns, AreMadeOncePerLaunch) {
  const auto patterns = std::make_shared<TouchPatterns>(4);
  std::uint64_t work = 0;
  const TouchPattern& first = patterns->of(0, offsets_of(0), 4, work);
  EXPECT_EQ(first.words.size(), static_cast<std::size_t>(kWarpSize));
  EXPECT_EQ(work, kWarpSize * work::kPatternTouch);
  EXPECT_EQ(&patterns->of(7, offsets_of(0), 4, work), &first);
  EXPECT_EQ(work, kWarpSize * work::kPatternTouch);
  EXPECT_NE(&patterns->of(8, offsets_of(1), 4, work), &first);

  RaceDetector one(4 * kWords, 4, kWarps, patterns), other(4 * kWords, 4, kWarps, patterns);
  for (RaceDetector* shadow : {&one, &other}) {
    ASSERT_TRUE(shadow->touch_in_lockstep(0, 0, 0, offsets_of(0), 4, SharedTouch::write));
    EXPECT_EQ(shadow->take_work(), 0u);
  }
  EXPECT_FALSE(one.touch_in_lockstep(0, 9, 0, offsets_of(0), 8, SharedTouch::read)) << "reads what nobody wrote";
  EXPECT_GT(one.take_work(), 0u);
}

// A kernel may have more loads than there is room for. They are checked lane by lane.
TEST(TouchPatterns, AreEmptyWhereThereIsNoRoom) {
  const LaneOffsets offsets = offsets_of(0);
  RaceDetector shadow(4 * kWords, 4, kWarps, std::make_shared<TouchPatterns>(4, 100));
  EXPECT_FALSE(shadow.touch_in_lockstep(0, 1, 0, offsets, 4, SharedTouch::write));
  EXPECT_FALSE(shadow.touch(0, 1, access_of(offsets, 0), SharedTouch::write).has_value());
  EXPECT_FALSE(shadow.touch_in_lockstep(0, 2, 0, offsets, 4, SharedTouch::read));
}

}  // namespace
}  // namespace roofwalk::vgpu
