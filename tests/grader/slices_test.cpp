// The last steps of chapters, a third of them each day, on eight SMs of a chip and on the whole chip: a slice's rates,
// scaled by the SMs, are the chip's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "grader/attempt/pipeline.h"
#include "grader/rig/roofs.h"
#include "tests/support/part_of_today.h"
#include "tests/support/temporary_course.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr double kMost = 0.05;  // the slice's figure differs from the chip's by at most this share

class Slices : public testing::TestWithParam<std::string> {
 protected:
  Attempt last_step_on(const std::string& device) {
    auto rig = open_rig(*course_, device, 2, nullptr);
    EXPECT_TRUE(rig.ok()) << rig.error().text();
    EXPECT_TRUE(use_measured_roofs(*rig).ok());
    const auto chapter = std::find_if(course_->chapters.begin(), course_->chapters.end(),
                                      [](const Chapter& one) { return one.name == GetParam(); });
    // The starter's dot decides only the verdict, so any will do.
    auto attempt = run_attempt(*rig, {.chapter = &*chapter,
                                      .file = chapter->solution_steps().back(),
                                      .starter = StarterDot{{{"dram", {}}}, false},
                                      .ignores_clock = true});
    EXPECT_TRUE(attempt.ok()) << attempt.error().text();
    return attempt ? *attempt : Attempt{};
  }

  test::TemporaryCourse folder_{TEST_SOURCE_DIR, TEST_CACHE};
  Result<Course> course_ = open_course(folder_.root());
};

TEST_P(Slices, TellWhatTheChipTells) {
  ASSERT_TRUE(course_.ok()) << course_.error().text();
  const Attempt slice = last_step_on("virtual:rtx4090/8"), chip = last_step_on("virtual:rtx4090");
  ASSERT_TRUE(slice.measurement && chip.measurement);
  const double scale = 128.0 / 8;
  const auto flops_per_s = [](const Attempt& attempt) { return attempt.measurement->point("l1")->flops_per_s; };
  EXPECT_NEAR(flops_per_s(slice) * scale / flops_per_s(chip), 1, kMost);
  EXPECT_NEAR(slice.measurement->point("l1")->ai / chip.measurement->point("l1")->ai, 1, kMost);
  // Which blocks of a GEMM share an SM's L1, and whether its matrices fit L2, depends on the size of its grid. How many
  // tiles share what L2 holds, which is all that an order of blocks is about, depends on how many run at a time.
  if (GetParam().ends_with("-gemm") || GetParam() == "block-order") return;
  for (const char* level : {"l2", "dram"})
    EXPECT_NEAR(slice.measurement->point(level)->ai / chip.measurement->point(level)->ai, 1, kMost) << level;
}

std::vector<std::string> chapters() {
  std::vector<std::string> names;
  const auto loaded = load_chapters(TEST_SOURCE_DIR);
  const auto part = test::part_of_today();
  for (std::size_t i = 0; i < loaded->size(); ++i) {
    const Chapter& chapter = (*loaded)[i];
    if (part && i % test::kParts != *part) continue;
    // Where blocks have rows of all lengths, a whole chip's sampled grid is too slow (DEVIATIONS.md, 18).
    if (chapter.name != "sparse-rows") names.push_back(chapter.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Long, Slices, testing::ValuesIn(chapters()), [](const auto& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace roofwalk
