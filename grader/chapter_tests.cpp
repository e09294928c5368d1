// Every chapter's correctness cases as GoogleTest cases, for its small sizes and two seeds, on a device.
// $ROOFWALK_KERNEL names the file with the kernel; without it, the starter and the last solution step are run, so
// that solved and unsolved checkouts both pass. $ROOFWALK_DEVICE chooses the device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "grader/attempt/pipeline.h"

namespace roofwalk {
namespace {

constexpr std::uint64_t kSeeds[] = {kPublicSeed, 20'240'229};

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

class ChapterCase : public ::testing::Test {
 public:
  ChapterCase(const Rig& rig, const Chapter& chapter, std::filesystem::path kernel, Size size, std::uint64_t seed)
      : rig_(rig), chapter_(chapter), kernel_(std::move(kernel)), size_(std::move(size)), seed_(seed) {}

  void TestBody() override {
    if (const auto why = not_offered(chapter_, rig_.machine)) GTEST_SKIP() << *why;
    const auto artifact = build_for(rig_, kernel_);
    ASSERT_TRUE(artifact) << artifact.error().text();
    const Exercise* exercise = find_exercise(chapter_.name);
    ASSERT_NE(exercise, nullptr);
    const Problem problem = exercise->problem(size_, seed_);
    const auto expected = exercise->reference(size_, problem);
    const auto trial = run_trial(rig_.open, *artifact, problem, case_name(size_, seed_), kSmallTrial,
                                 [&]() -> const std::vector<Expected>& { return expected; });
    ASSERT_TRUE(trial) << trial.error().text();
    Evidence evidence;
    add_to_evidence(*trial, *artifact, evidence);
    EXPECT_FALSE(trial->went_wrong()) << judge(evidence).reasons.front();
  }

 private:
  const Rig& rig_;
  const Chapter& chapter_;
  std::filesystem::path kernel_;
  Size size_;
  std::uint64_t seed_;
};

// "m=31 n=33, seed 1" as a name that GoogleTest and CTest accept.
std::string test_name(const std::filesystem::path& kernel, const Size& size, std::uint64_t seed) {
  std::string name = kernel.stem().string() == "kernel" ? "starter" : kernel.stem().string();
  for (const auto& [extent, value] : size.values()) name += fmt::format("_{}{}", extent, value);
  return name + fmt::format("_seed{}", seed);
}

void register_chapter(const Rig& rig, const Chapter& chapter) {
  std::vector<std::filesystem::path> kernels;
  if (const std::string chosen = environment("ROOFWALK_KERNEL", ""); !chosen.empty()) {
    kernels = {chosen};
  } else {
    kernels = {chapter.baseline()};
    if (const auto steps = chapter.solution_steps(); !steps.empty()) kernels.push_back(steps.back());
  }
  std::string suite = chapter.name + "/Correctness";
  std::replace(suite.begin(), suite.end(), '-', '_');  // in a GoogleTest filter, a dash means "except"
  for (const auto& kernel : kernels) {
    for (const Size& size : chapter.correctness_sizes) {
      for (const std::uint64_t seed : kSeeds) {
        ::testing::RegisterTest(suite.c_str(), test_name(kernel, size, seed).c_str(), nullptr, nullptr, __FILE__,
                                __LINE__, [&rig, &chapter, kernel, size, seed]() -> ChapterCase* {
                                  return new ChapterCase(rig, chapter, kernel, size, seed);
                                });
      }
    }
  }
}

}  // namespace
}  // namespace roofwalk

int main(int argc, char** argv) {
  using namespace roofwalk;
  ::testing::InitGoogleTest(&argc, argv);
  std::filesystem::current_path(find_root());
  const auto course = open_course({});
  if (!course) {
    std::fprintf(stderr, "%s\n", course.error().text().c_str());
    return 3;
  }
  const auto rig = open_rig(*course, environment("ROOFWALK_DEVICE", "auto"), 1, nullptr);
  if (!rig) {
    std::fprintf(stderr, "%s\n", rig.error().text().c_str());
    return 3;
  }
  for (const Chapter& chapter : course->chapters) register_chapter(*rig, chapter);
  return RUN_ALL_TESTS();
}
