#include "grader/workers.h"

#include <gtest/gtest.h>

namespace roofwalk {
namespace {

TEST(ParallelFor, DoesEachPieceOnceWhateverTheThreads) {
  for (const int threads : {0, 1, 2, 3, 8}) {
    std::vector<std::atomic<int>> done(100);
    parallel_for(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, OfNothingReturns) {
  parallel_for(0, 4, [](std::size_t) { FAIL(); });
}

TEST(Start, WithOneThreadWaitsUntilItIsAsked) {
  bool ran = false;
  auto result = start(1, [&] { return ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_TRUE(result.get());
}

}  // namespace
}  // namespace roofwalk
