// The sparse matrix of the chapter on sparse rows: its sums are exact in any order, and its rows are of all lengths.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "common/exercise/exercise.h"

namespace roofwalk {
namespace {

// Sums of floats from the first to the last, from the last to the first, and by 32 lanes.
std::vector<float> sums_of_products(const std::vector<float>& x) {
  std::vector<float> lanes(32);
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % 32] += x[i];
  return {std::accumulate(x.begin(), x.end(), 0.0f), std::accumulate(x.rbegin(), x.rend(), 0.0f),
          std::accumulate(lanes.begin(), lanes.end(), 0.0f)};
}

// A row's products in float, from the first to the last.
std::vector<float> products_of(const Problem& problem, std::size_t row) {
  const auto end = static_cast<std::size_t>(problem.input("row_starts")[row + 1]);
  std::vector<float> products;
  for (auto i = static_cast<std::size_t>(problem.input("row_starts")[row]); i < end; ++i) {
    const auto column = static_cast<std::size_t>(problem.input("columns")[i]);
    products.push_back(problem.input("values")[i] * problem.input("x")[column]);
  }
  return products;
}

TEST(SparseRows, EveryOrderIsExactAndNoElementMayBeLostOrDoubled) {
  const Exercise& exercise = *find_exercise("sparse-rows");
  for (const std::int64_t n : {1, 2, 3, 59, 4099}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << n << " rows, seed " << seed);
      const Problem problem = exercise.problem(Size({{"n", n}}), seed);
      const Expected expected = exercise.reference(Size({{"n", n}}), problem)[0];
      for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row) {
        const std::vector<float> products = products_of(problem, row);
        if (products.empty()) {
          EXPECT_EQ(expected.values[row], 0);
          continue;
        }
        for (const float sum : sums_of_products(products))
          EXPECT_EQ(static_cast<double>(sum), expected.values[row]) << row;
        for (const float product : products) EXPECT_GT(std::fabs(product), expected.tolerances[row]) << row;
      }
    }
  }
  const Work work = exercise.work(Size({{"n", 32768}}));
  EXPECT_EQ(work.useful_flops, 1966080);
  EXPECT_EQ(work.compulsory_bytes, 8257540);
  EXPECT_EQ(work.least_flops, 1966080 - 32768);
}

TEST(SparseRows, AreOfAllLengthsAndTheirColumnsComeInRuns) {
  const Exercise& exercise = *find_exercise("sparse-rows");
  const auto starts_of = [&](std::uint64_t seed) {
    return exercise.problem(Size({{"n", 4099}}), seed).input("row_starts");
  };
  EXPECT_NE(starts_of(1), starts_of(2));
  const Problem problem = exercise.problem(Size({{"n", 4099}}), 1);
  const std::vector<float>&starts = problem.input("row_starts"), &columns = problem.input("columns");
  std::vector<float> lengths(4099);
  std::transform(starts.begin(), starts.end() - 1, starts.begin() + 1, lengths.begin(),
                 [](float start, float end) { return end - start; });
  const std::vector<float> a_stretch(4099 / 32);  // of empty rows
  EXPECT_NE(std::search(lengths.begin(), lengths.end(), a_stretch.begin(), a_stretch.end()), lengths.end());
  std::int64_t neighbours = 0;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(starts[row]);
    const auto end = columns.begin() + static_cast<std::ptrdiff_t>(starts[row + 1]);
    EXPECT_EQ(std::adjacent_find(begin, end, std::greater_equal<>()), end) << row;
    for (auto at = begin; at != end; ++at) {
      EXPECT_TRUE(*at >= 0 && *at < 4099) << row;
      if (at + 1 != end && at[0] + 1 == at[1]) ++neighbours;
    }
  }
  EXPECT_GT(neighbours, std::ssize(columns) * 7 / 10);
  std::sort(lengths.begin(), lengths.end());
  EXPECT_LT(lengths[4099 / 2], 16);
  EXPECT_GT(lengths.back(), 1024);
}

}  // namespace
}  // namespace roofwalk
