// The class's record of a submission keeps only the longest launches.
#include "grader/class/batch/job.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

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

}  // namespace
}  // namespace roofwalk
