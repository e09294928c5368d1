// Measured sizes follow the machine: every chapter, every machine file.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "grader/attempt/goals.h"
#include "grader/attempt/pipeline.h"
#include "grader/attempt/trial.h"

namespace roofwalk {
namespace {

std::vector<Chapter> chapters() {
  auto loaded = load_chapters(ROOFWALK_ROOT);
  ROOFWALK_CHECK(loaded.ok() && !loaded->empty());
  return *loaded;
}

// Whether its figure is a share of DRAM bandwidth, so that L2 must not help.
bool streams(const Chapter& chapter) {
  return std::any_of(chapter.goals.begin(), chapter.goals.end(),
                     [](const Goal& goal) { return goal.level == "dram" && goal.what == Goal::What::share_of_roof; });
}

Size halved(const Size& size) {
  auto values = size.values();
  const auto largest =
      std::max_element(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  largest->second /= 2;
  return Size(values);
}

TEST(Sizes, EveryMachineOfTheProjectIsNamed) {
  for (const Chapter& chapter : chapters()) {
    for (const std::string& name : machine_names()) EXPECT_EQ(chapter.measured_sizes.count(name), 1u) << name;
  }
}

// A goal at DRAM is dropped where L2 hides it; the remaining goals must still tell a starter from a solution.
TEST(Sizes, EveryMachineStillAsksForAPassAndAnAce) {
  for (const Chapter& chapter : chapters()) {
    const Exercise& exercise = *find_exercise(chapter.name);
    for (const std::string& name : machine_names()) {
      SCOPED_TRACE(chapter.name + " on " + name);
      const Machine machine = *load_machine(name);
      const auto asked = goals_on(machine, chapter, exercise.work(measured_size(chapter, machine))).asked;
      const auto any = [&](std::optional<double> Goal::*grade) {
        return std::any_of(asked.begin(), asked.end(), [&](const Goal& goal) { return (goal.*grade).has_value(); });
      };
      EXPECT_TRUE(any(&Goal::pass));
      EXPECT_TRUE(any(&Goal::ace));
    }
  }
}

// A kernel with ten instructions per multiply-add is slow, but not an endless loop.
TEST(Sizes, OfEveryMachineLeaveTimeForSlowKernels) {
  constexpr double kSlow = 10, kFlopsOfAWarp = 64;
  for (const Chapter& chapter : chapters()) {
    for (const std::string& name : machine_names()) {
      const Work work = find_exercise(chapter.name)->work(measured_size(chapter, *load_machine(name)));
      const RunOptions limits = measured_trial(work, 1);
      EXPECT_GE(static_cast<double>(limits.max_work), kSlow * static_cast<double>(work.useful_flops) / kFlopsOfAWarp)
          << chapter.name << " on " << name;
    }
  }
}

TEST(Sizes, AStreamIsTheSmallestPowerOfTwoThatFillsTheMachine) {
  int streaming = 0;
  for (const Chapter& chapter : chapters()) {
    if (!streams(chapter)) continue;
    ++streaming;
    const Exercise& exercise = *find_exercise(chapter.name);
    for (const std::string& name : machine_names()) {
      SCOPED_TRACE(chapter.name + " on " + name);
      const Machine machine = *load_machine(name);
      const Size size = measured_size(chapter, machine);
      for (const auto& [extent, value] : size.values()) {
        EXPECT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(value))) << extent;
      }
      EXPECT_TRUE(fills(exercise.work(size), machine)) << size.text();
      EXPECT_FALSE(fills(exercise.work(halved(size)), machine)) << size.text();
    }
  }
  EXPECT_GT(streaming, 0);
}

TEST(Sizes, AMachineOfOnesOwnGetsTheSmallestSizeThatFillsIt) {
  for (const Chapter& chapter : chapters()) {
    if (!streams(chapter)) continue;
    Machine own = *load_machine("classroom");
    own.name = "own";
    EXPECT_EQ(measured_size(chapter, own), chapter.measured_size("classroom"));
    own.l2_bytes = load_machine("a100-80")->l2_bytes;
    EXPECT_EQ(measured_size(chapter, own), chapter.measured_size("a100-80"));
    own.l2_bytes = 1 << 30;  // more than any size fills
    EXPECT_EQ(measured_size(chapter, own), chapter.measured_size("default"));
  }
}

}  // namespace
}  // namespace roofwalk
