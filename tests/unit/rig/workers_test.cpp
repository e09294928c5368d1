#include "grader/rig/workers.h"

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

TEST(ParallelFor, ThrowsWhatACallThrowsWhenAllHaveEnded) {
  for (const int threads : {1, 4}) {
    std::atomic<int> done{0};
    const auto work = [&](std::size_t i) {
      if (i == 3) throw std::bad_alloc();
      ++done;
    };
    EXPECT_THROW(parallel_for(8, threads, work), std::bad_alloc);
    EXPECT_GE(done, 3);
  }
}

TEST(Start, WithOneThreadWaitsUntilItIsAsked) {
  bool ran = false;
  auto result = start(1, [&] { return ran = true; });
  EXPECT_FALSE(ran);
  EXPECT_TRUE(result.get());
}

}  // namespace
}  // namespace roofwalk
