// The hidden seeds of a grading job, and the launches that the class's record keeps.
#include "grader/class/batch/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/json.h"
#include "tests/support/scratch_folder.h"

namespace roofwalk {
namespace {

TEST(Job, HiddenSeedsDifferByTheSource) {
  const HiddenCases secret{{}, {7203685477580, 1}};
  const auto seeds = [&](const char* source) { return with_seeds_of(secret, source).seeds; };
  EXPECT_EQ(seeds("a"), seeds("a"));
  EXPECT_NE(seeds("a")[0], seeds("b")[0]);
  EXPECT_NE(seeds("a")[1], seeds("b")[1]);
  EXPECT_NE(seeds("a")[0], secret.seeds[0]);
  // sha256("1\na")
  EXPECT_EQ(seeds("a")[1], 0x87a4add670544dbb);
}

TEST(Job, KeepsTheLongestLaunchesInTheirOrder) {
  std::vector<KernelRecord> kernels(1000);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].line = static_cast<int>(i);
    kernels[i].elapsed_ns = i == 3 || i == 700 ? 50 : 1;
  }
  EXPECT_EQ(keep_longest(kernels), 1000 - kMostKernelsKept);
  ASSERT_EQ(kernels.size(), kMostKernelsKept);
  EXPECT_EQ(kernels[3].line, 3);
  EXPECT_EQ(kernels.back().line, 700);
  EXPECT_EQ(keep_longest(kernels), 0u);
  EXPECT_EQ(kernels.size(), kMostKernelsKept);
}

// Another version of the compiler may give another grade, for instance on one node of a cluster.
TEST(Job, IsGradedWithTheToolkitOfTheClass) {
  const test::ScratchFolder folder;
  folder.write("vector-add.cu", "// a kernel\n");
  const Course course = *open_course(TEST_SOURCE_DIR);
  const JobTerms terms{.chapter = **course.find("vector-add"),
                       .hidden = {},
                       .device = "virtual:classroom",
                       .rates = {},
                       .starter = {},
                       .isolation = Isolation::none,
                       .toolkit = "1.0"};
  const auto before = std::filesystem::current_path();
  const auto graded = grade({terms, folder.path()}, course);
  std::filesystem::current_path(before);
  ASSERT_FALSE(graded);
  EXPECT_THAT(graded.error().text(), ::testing::HasSubstr(", and the class is compiled with 1.0 (ROOFWALK_CUDA="));
}

}  // namespace
}  // namespace roofwalk
