// For each chapter, a correct kernel in single precision passes, even with the worst usual order of summation, and
// likely mistakes do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "common/exercise/chapter.h"
#include "common/verify/verify.h"

namespace roofwalk {
namespace {

std::vector<std::int32_t> to_int(const std::vector<double>& values) {
  std::vector<std::int32_t> integers;
  for (const double value : values) integers.push_back(static_cast<std::int32_t>(value));
  return integers;
}

TEST(VectorAdd, OneRoundedAdditionPasses) {
  const Exercise& exercise = *find_exercise("vector-add");
  const Size size({{"n", 65537}});
  const Problem problem = exercise.problem(size, 3);
  std::vector<float> c;
  for (std::size_t i = 0; i < 65537; ++i) c.push_back(problem.input("a")[i] + problem.input("b")[i]);
  EXPECT_TRUE(compare(c, exercise.reference(size, problem)[0]).correct);
  EXPECT_EQ(exercise.work(Size({{"n", 1048576}})).useful_flops, 1048576);
  EXPECT_EQ(exercise.work(Size({{"n", 1048576}})).compulsory_bytes, 12582912);
}

// Sums of floats in four usual orders: one after the other, by threads that stride, by a tree over DRAM, and values
// from the end.
std::vector<float> sums_in_float(const std::vector<float>& x) {
  float forwards = 0, backwards = 0;
  for (const float value : x) forwards += value;
  for (auto value = x.rbegin(); value != x.rend(); ++value) backwards += *value;
  std::vector<float> threads(std::min<std::size_t>(x.size(), 8192));
  for (std::size_t i = 0; i < x.size(); ++i) threads[i % threads.size()] += x[i];
  std::vector<float> tree = x;
  for (std::size_t size = tree.size(); size > 1; size = (size + 1) / 2) {
    for (std::size_t i = 0; i < size / 2; ++i) tree[i] += tree[i + (size + 1) / 2];
  }
  return {forwards, backwards, std::accumulate(threads.begin(), threads.end(), 0.0f), tree[0]};
}

bool nearer_to_zero(float a, float b) { return std::fabs(a) < std::fabs(b); }

TEST(Reduction, EveryOrderIsExactAndNoValueMayBeLostOrDoubled) {
  const Exercise& exercise = *find_exercise("reduction");
  for (const std::int64_t n : {1, 2, 3, 4099, 65537, 1 << 22}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << n << " values, seed " << seed);
      const Problem problem = exercise.problem(Size({{"n", n}}), seed);
      const std::vector<float>& x = problem.input("x");
      const Expected expected = exercise.reference(Size({{"n", n}}), problem)[0];
      for (const float sum : sums_in_float(x)) {
        EXPECT_EQ(static_cast<double>(sum), expected.values[0]);
        EXPECT_TRUE(compare(std::vector{sum}, expected).correct);
        for (const float value : {x.front(), x.back(), *std::min_element(x.begin(), x.end(), nearer_to_zero)}) {
          EXPECT_FALSE(compare(std::vector{sum - value}, expected).correct);
          EXPECT_FALSE(compare(std::vector{sum + value}, expected).correct);
        }
      }
    }
  }
  EXPECT_EQ(exercise.work(Size({{"n", 4194304}})).useful_flops, 4194304);
  EXPECT_EQ(exercise.work(Size({{"n", 4194304}})).compulsory_bytes, 16777220);
}

bool is_bin(float key) { return key >= 0 && key < 256; }

TEST(Histogram, HalfOfTheKeysAreOneAndEveryKeyCounts) {
  const Exercise& exercise = *find_exercise("histogram");
  for (const std::int64_t n : {1, 2, 3, 4099, 1 << 18}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << n << " keys, seed " << seed);
      const Problem problem = exercise.problem(Size({{"n", n}}), seed);
      const std::vector<float>& keys = problem.input("keys");
      const Expected expected = exercise.reference(Size({{"n", n}}), problem)[0];
      EXPECT_EQ(std::accumulate(expected.values.begin(), expected.values.end(), 0.0),
                static_cast<double>(std::count_if(keys.begin(), keys.end(), is_bin)));
      if (n > 256) {
        EXPECT_GE(*std::max_element(expected.values.begin(), expected.values.end()), 0.49 * static_cast<double>(n));
      }
      std::vector<std::int32_t> counts = to_int(expected.values);
      EXPECT_TRUE(compare(counts, expected).correct);
      --*std::find_if(counts.begin(), counts.end(), [](std::int32_t count) { return count > 0; });
      EXPECT_FALSE(compare(counts, expected).correct);
    }
  }
  EXPECT_EQ(exercise.work(Size({{"n", 4194304}})).useful_flops, 4194304);
  EXPECT_EQ(exercise.work(Size({{"n", 4194304}})).compulsory_bytes, 16778240);
}

// A strip is a 64th of the keys, and half of the strips are background.
TEST(Histogram, EveryStripOfBackgroundHasAnotherKeySomewhere) {
  constexpr std::int64_t kStrip = 1024, kStrips = 64;
  const Exercise& exercise = *find_exercise("histogram");
  const Size size({{"n", kStrips * kStrip}});
  const Problem problem = exercise.problem(size, 1);
  const std::vector<double> counts = exercise.reference(size, problem)[0].values;
  const auto background = static_cast<float>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  const auto is_other = [&](float key) { return key != background; };
  std::array<int, 8> others_at{};  // by place in a sector
  int strips = 0;
  for (auto keys = problem.input("keys").begin(); keys != problem.input("keys").end(); keys += kStrip) {
    const auto others = std::count_if(keys, keys + kStrip, is_other);
    if (others > kStrip / 2) continue;
    ++strips;
    EXPECT_TRUE(others == 1 || (others == 2 && strips == 1)) << "the first key of all is another, too";
    ++others_at[static_cast<std::size_t>(std::find_if(keys, keys + kStrip, is_other) - keys) % others_at.size()];
  }
  EXPECT_EQ(strips, kStrips / 2);
  EXPECT_LT(*std::max_element(others_at.begin(), others_at.end()), strips / 2);
}

TEST(Histogram, KeysLieOnBothSidesOfTheBinsAndEveryBinHasSome) {
  const Exercise& exercise = *find_exercise("histogram");
  const Size size({{"n", 1 << 20}});
  const Problem problem = exercise.problem(size, 1);
  const std::vector<float>& keys = problem.input("keys");
  for (const float near : {-1.0f, 256.0f}) EXPECT_GT(std::count(keys.begin(), keys.end(), near), 0) << near;
  EXPECT_LT(*std::min_element(keys.begin(), keys.end()), -256);
  EXPECT_GT(*std::max_element(keys.begin(), keys.end()), 512);
  for (const double count : exercise.reference(size, problem)[0].values) EXPECT_GT(count, 0);
}

TEST(Histogram, ImagesHaveDifferentBackgroundsSoThatCountsStaySmall) {
  constexpr std::int64_t kImage = 1 << 23, kStrip = kImage / 64;
  const Exercise& exercise = *find_exercise("histogram");
  const Size size({{"n", kImage + 4 * kStrip}});
  std::vector<double> counts = exercise.reference(size, exercise.problem(size, 1))[0].values;
  std::sort(counts.begin(), counts.end());
  EXPECT_LT(counts[255], 0.6 * kImage);
  EXPECT_GT(counts[254], 2 * kStrip);
}

TEST(Scan, SumsAreExactAndNoneHasFewBitsOrLeavesAValueOut) {
  const Exercise& exercise = *find_exercise("scan");
  for (const std::int64_t n : {1, 2, 3, 33, 4099, 1 << 20}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << n << " values, seed " << seed);
      const Problem problem = exercise.problem(Size({{"n", n}}), seed);
      const std::vector<float>& floats = problem.input("x");
      const std::vector<std::int32_t> x(floats.begin(), floats.end());
      const Expected expected = exercise.reference(Size({{"n", n}}), problem)[0];
      std::vector<std::int32_t> inclusive(x.size()), exclusive(x.size()), in_floats(x.size());
      std::inclusive_scan(x.begin(), x.end(), inclusive.begin());
      std::exclusive_scan(x.begin(), x.end(), exclusive.begin(), 0);
      EXPECT_TRUE(compare(inclusive, expected).correct);
      EXPECT_EQ(compare(exclusive, expected).wrong_count, n) << "a value is zero";
      std::inclusive_scan(floats.begin(), floats.end(), in_floats.begin());
      EXPECT_TRUE(n < 4 || compare(in_floats, expected).wrong_count > n / 3) << "floats are enough";
      const auto [least, largest] = std::minmax_element(inclusive.begin(), inclusive.end());
      EXPECT_TRUE(*least > -(1 << 30) && *largest < 1 << 30) << "a sum of some values may overflow";
      EXPECT_GT(std::abs(inclusive[0]), 1 << 23);
      EXPECT_TRUE(n <= 4099 || (*least < -(1 << 29) && *largest > 1 << 29)) << "fewer bits are enough";
    }
  }
  EXPECT_EQ(exercise.work(Size({{"n", 2097152}})).useful_flops, 2097152);
  EXPECT_EQ(exercise.work(Size({{"n", 2097152}})).compulsory_bytes, 16777216);
}

TEST(NaiveGemm, ASequentialSumInFloatPasses) {
  const Exercise& exercise = *find_exercise("naive-gemm");
  constexpr std::int64_t m = 9, n = 33, k = 4001;
  const Size size({{"m", m}, {"n", n}, {"k", k}});
  const Problem problem = exercise.problem(size, 3);
  const std::vector<float>&a = problem.input("a"), &b = problem.input("b");
  std::vector<float> fused(m * n), separate(m * n);
  std::vector<double> exact(m * n);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      for (std::size_t i = 0; i < k; ++i) {
        const float x = a[row * k + i], y = b[i * n + column];
        fused[row * n + column] = std::fma(x, y, fused[row * n + column]);
        separate[row * n + column] += x * y;
        exact[row * n + column] += static_cast<double>(x) * y;
      }
    }
  }
  const Expected expected = exercise.reference(size, problem)[0];
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(expected.values[i], exact[i], 1e-10);
  EXPECT_TRUE(compare(fused, expected).correct);
  EXPECT_TRUE(compare(separate, expected).correct);
  EXPECT_EQ(exercise.work(size).useful_flops, 2 * m * n * k);
}

// Mean and variance of a row in float, by sequential summation.
struct FloatMoments {
  float mean = 0, variance = 0;
};
using FloatMomentsOf = FloatMoments (*)(const float* x, std::int64_t cols);

FloatMoments two_passes(const float* x, std::int64_t cols) {
  const auto n = static_cast<float>(cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) sum += x[c];
  const float mean = sum / n;
  for (std::int64_t c = 0; c < cols; ++c) squares = std::fma(x[c] - mean, x[c] - mean, squares);
  return {mean, squares / n};
}

FloatMoments welford(const float* x, std::int64_t cols) {
  float mean = 0, squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    const float d = x[c] - mean;
    mean += d / static_cast<float>(c + 1);
    squares += d * (x[c] - mean);
  }
  return {mean, squares / static_cast<float>(cols)};
}

FloatMoments shifted_one_pass(const float* x, std::int64_t cols) {
  const auto n = static_cast<float>(cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    sum += x[c] - x[0];
    squares += (x[c] - x[0]) * (x[c] - x[0]);
  }
  return {x[0] + sum / n, std::max(squares / n - (sum / n) * (sum / n), 0.0f)};
}

FloatMoments one_pass(const float* x, std::int64_t cols) {
  const auto n = static_cast<float>(cols);
  float sum = 0, squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    sum += x[c];
    squares += x[c] * x[c];
  }
  return {sum / n, std::max(squares / n - (sum / n) * (sum / n), 0.0f)};
}

Correctness layernorm_in_float(FloatMomentsOf moments_of, std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  const Exercise& exercise = *find_exercise("fused-layernorm");
  const Size size({{"rows", rows}, {"cols", cols}});
  const Problem problem = exercise.problem(size, seed);
  const float epsilon = std::get<float>(std::get<Scalar>(problem.parameters.back()).value);
  std::vector<float> y;
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* x = problem.input("x").data() + row * cols;
    const FloatMoments m = moments_of(x, cols);
    const float scale = 1 / std::sqrt(m.variance + epsilon);
    for (std::int64_t c = 0; c < cols; ++c) {
      const auto i = static_cast<std::size_t>(c);
      y.push_back((x[c] - m.mean) * scale * problem.input("gamma")[i] + problem.input("beta")[i]);
    }
  }
  return compare(y, exercise.reference(size, problem)[0]);
}

TEST(FusedLayernorm, SoundSumsInFloatPassAndSumsOfSquaresDoNot) {
  for (const std::int64_t cols : {1, 2, 3, 33, 257, 1024, 4099}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(testing::Message() << cols << " columns, seed " << seed);
      for (const FloatMomentsOf sound : {two_passes, welford, shifted_one_pass}) {
        const Correctness result = layernorm_in_float(sound, 20, cols, seed);
        EXPECT_TRUE(result.correct) << result.reason;
      }
      const bool naive_passes = layernorm_in_float(one_pass, 20, cols, seed).correct;
      EXPECT_EQ(naive_passes, cols == 1);  // with one value, the variance is zero either way
    }
  }
}

// Both sweeps in float, each element from the five before it, or all at once as one formula of 13 terms.
struct FloatSweeps {
  std::int64_t rows, cols;

  float at(const std::vector<float>& from, std::int64_t row, std::int64_t col) const {
    const bool is_inside = row >= 0 && row < rows && col >= 0 && col < cols;
    return is_inside ? from[static_cast<std::size_t>(row * cols + col)] : 0.0f;
  }
  template <class Element>
  std::vector<float> each(Element element) const {
    std::vector<float> all;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) all.push_back(element(r, c));
    }
    return all;
  }
  std::vector<float> sweep(const std::vector<float>& from) const {
    return each([&](std::int64_t r, std::int64_t c) {
      const float sides = at(from, r - 1, c) + at(from, r + 1, c) + at(from, r, c - 1) + at(from, r, c + 1);
      return 0.5f * at(from, r, c) + 0.125f * sides;
    });
  }
  std::vector<float> thirteen_points(const std::vector<float>& x) const {
    return each([&](std::int64_t r, std::int64_t c) {
      float sum = (0.25f + static_cast<float>((r > 0) + (r + 1 < rows) + (c > 0) + (c + 1 < cols)) / 64) * at(x, r, c);
      for (const int side : {-1, 1}) {
        sum += 0.125f * at(x, r + side, c) + 0.125f * at(x, r, c + side);
        sum += at(x, r + 2 * side, c) / 64 + at(x, r, c + 2 * side) / 64;
        sum += at(x, r + side, c + side) / 32 + at(x, r + side, c - side) / 32;
      }
      return sum;
    });
  }
};

TEST(Stencil, TwoSweepsInFloatPassInOneFormulaTooAndOneDoesNot) {
  constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {{1, 1}, {1, 6}, {7, 1}, {2, 3}, {33, 65}};
  for (const auto& [rows, cols] : kShapes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    const Exercise& exercise = *find_exercise("stencil");
    const Size size({{"rows", rows}, {"cols", cols}});
    const Problem problem = exercise.problem(size, 3);
    const Expected expected = exercise.reference(size, problem)[0];
    const FloatSweeps in_float{rows, cols};
    const std::vector<float>& x = problem.input("x");
    EXPECT_TRUE(compare(in_float.sweep(in_float.sweep(x)), expected).correct);
    EXPECT_TRUE(compare(in_float.thirteen_points(x), expected).correct);
    EXPECT_FALSE(compare(in_float.sweep(x), expected).correct);
  }
  const Work work = find_exercise("stencil")->work(Size({{"rows", 3}, {"cols", 7}}));
  EXPECT_EQ(work.useful_flops, 12 * 21);
  EXPECT_EQ(work.compulsory_bytes, 8 * 21);
  EXPECT_EQ(work.least_flops, 6 * 21);
}

// The particles after ten sweeps in float, with each product rounded or not, as compilers may do; `late`: each time
// step is that of the sweep before.
std::vector<float> swept_in_float(std::vector<float> particles, float step, bool rounds_products, bool late) {
  std::vector<float> fastest(1, 0.0f);
  const auto add_product = [&](float sum, float a, float b) {
    const float product = a * b;
    return rounds_products ? sum + product : std::fma(a, b, sum);
  };
  for (std::size_t s = 0; s < 10; ++s) {
    const float dt = step / (1.0f + fastest[late && s > 0 ? s - 1 : s]);
    fastest.push_back(0.0f);
    for (std::size_t p = 0; p < particles.size(); p += 8) {
      float &x = particles[p], &vx = particles[p + 3];
      vx = add_product(vx, -dt, x);
      x = add_product(x, dt, vx);
      fastest.back() = std::max(fastest.back(), std::fabs(vx));
    }
  }
  return particles;
}

TEST(StructOfArrays, TenSweepsInFloatPassAndLateTimeStepsDoNot) {
  for (const std::int64_t n : {1, 2, 3, 33, 1000, 20001}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << n << " particles, seed " << seed);
      const Exercise& exercise = *find_exercise("struct-of-arrays");
      const Problem problem = exercise.problem(Size({{"n", n}}), seed);
      const Expected expected = exercise.reference(Size({{"n", n}}), problem)[0];
      const float step = std::get<float>(std::get<Scalar>(problem.parameters[2]).value);
      for (const bool rounds_products : {true, false}) {
        const Correctness right =
            compare(swept_in_float(problem.input("before"), step, rounds_products, false), expected);
        EXPECT_TRUE(right.correct) << right.reason;
        EXPECT_LT(right.worst_error, 0x1p-19);  // half of what is allowed
      }
      EXPECT_FALSE(compare(swept_in_float(problem.input("before"), step, true, true), expected).correct);
    }
  }
}

TEST(StructOfArrays, CountsFortyFlopsAndSixtyFourBytesAParticle) {
  const Work work = find_exercise("struct-of-arrays")->work(Size({{"n", 7}}));
  EXPECT_EQ(work.useful_flops, 280);
  EXPECT_EQ(work.compulsory_bytes, 448);
}

TEST(FusedLayernorm, CountsFiveFlopsAnElementAndTwoPasses) {
  const Work work = find_exercise("fused-layernorm")->work(Size({{"rows", 3}, {"cols", 7}}));
  EXPECT_EQ(work.useful_flops, 105);
  EXPECT_EQ(work.compulsory_bytes, 4 * (21 + 7 + 7 + 21));
}

// The output of a transposition of 33 rows of 31 columns, with the element of row y and column x at `place(x, y)`.
template <class Place>
Correctness transposed_in_float(float factor, Place place) {
  const Exercise& exercise = *find_exercise("transpose");
  const Size size({{"rows", 33}, {"cols", 31}});
  const Problem problem = exercise.problem(size, 3);
  const std::vector<float>& in = problem.input("in");
  std::vector<float> out(in.size());
  for (std::size_t y = 0; y < 33; ++y) {
    for (std::size_t x = 0; x < 31; ++x) out[place(x, y)] = factor * in[y * 31 + x];
  }
  return compare(out, exercise.reference(size, problem)[0]);
}

TEST(Transpose, OneRoundedProductPassesAtItsPlaceOnly) {
  const auto factor_of = [](std::int64_t rows) {
    const Problem problem = find_exercise("transpose")->problem(Size({{"rows", rows}, {"cols", 2}}), 1);
    return std::get<float>(std::get<Scalar>(problem.parameters.back()).value);
  };
  EXPECT_NE(factor_of(32), factor_of(33));  // or it could be built in
  const auto at_its_place = [](std::size_t x, std::size_t y) { return x * 33 + y; };
  const Correctness right = transposed_in_float(factor_of(33), at_its_place);
  EXPECT_TRUE(right.correct) << right.reason;
  EXPECT_FALSE(transposed_in_float(factor_of(32), at_its_place).correct);
  const auto untouched = [](std::size_t x, std::size_t y) { return y * 31 + x; };
  EXPECT_FALSE(transposed_in_float(factor_of(33), untouched).correct);
}

TEST(Transpose, CountsAFlopAndEightBytesAnElement) {
  const Work work = find_exercise("transpose")->work(Size({{"rows", 3}, {"cols", 7}}));
  EXPECT_EQ(work.useful_flops, 21);
  EXPECT_EQ(work.compulsory_bytes, 8 * 21);
}

}  // namespace
}  // namespace roofwalk
