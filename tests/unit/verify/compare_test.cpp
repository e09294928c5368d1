// The comparison of results: NaN and Inf by bit pattern, unwritten elements, tolerances, the one-line message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "common/verify/verify.h"

namespace roofwalk {
namespace {

using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Expected expect(std::vector<double> values, double tolerance = 0) {
  Expected expected{.name = "c", .values = std::move(values), .tolerances = {}};
  expected.tolerances.assign(expected.values.size(), tolerance);
  return expected;
}

Correctness compare_one(float value, double expected, double tolerance = 0) {
  return compare(std::vector<float>{value}, expect({expected}, tolerance));
}

TEST(Compare, EqualIsCorrect) {
  const Correctness result = compare(std::vector<float>{1, -2, 0}, expect({1, -2, 0}));
  EXPECT_TRUE(result.correct);
  EXPECT_EQ(result.wrong, Wrong::none);
  EXPECT_EQ(result.worst_error, 0);
  EXPECT_EQ(result.reason, "");
}

TEST(Compare, NanOfBothSignsAndKinds) {
  for (const std::uint32_t bits :
       {0x7fffffffu, 0xffffffffu, 0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, kPoison | 0x80000000u}) {
    const Correctness result = compare_one(std::bit_cast<float>(bits), 1, 1e30);
    EXPECT_FALSE(result.correct) << std::hex << bits;
    EXPECT_EQ(result.wrong, Wrong::nan) << std::hex << bits;
    EXPECT_THAT(result.reason, HasSubstr("c[0] is NaN"));
  }
}

TEST(Compare, InfinityIsWrongWhateverTheTolerance) {
  for (const float value : {kInfinity, -kInfinity}) {
    const Correctness result = compare_one(value, 1, std::numeric_limits<double>::infinity());
    EXPECT_EQ(result.wrong, Wrong::infinite);
    EXPECT_FALSE(result.correct);
  }
}

TEST(Compare, ZerosOfBothSignsAreEqual) { EXPECT_TRUE(compare_one(-0.0f, 0.0).correct); }

TEST(Compare, SubnormalsCount) {
  EXPECT_TRUE(compare_one(0x1p-149f, 0x1p-149).correct);
  EXPECT_FALSE(compare_one(0.0f, 0x1p-149).correct);
  EXPECT_FALSE(compare_one(0x1p-149f, 0x1p-149, 0).wrong == Wrong::off);
}

TEST(Compare, TheToleranceIsClosed) {
  EXPECT_TRUE(compare_one(1.5f, 1.0, 0.5).correct);
  EXPECT_FALSE(compare_one(std::nextafter(1.5f, 2.0f), 1.0, 0.5).correct);
  EXPECT_FALSE(compare_one(std::nextafter(0.5f, 0.0f), 1.0, 0.5).correct);
  EXPECT_EQ(compare_one(1.25f, 1.0, 0.5).worst_error, 0.25);
}

TEST(Compare, UnwrittenElementsAreCountedAndNamedBeforeAnythingElse) {
  const float poison = std::bit_cast<float>(kPoison);
  const Correctness result = compare(std::vector<float>{5, NAN, poison, 4, poison}, expect({1, 2, 3, 4, 5}));
  EXPECT_EQ(result.wrong, Wrong::unwritten);
  EXPECT_EQ(result.buffer, "c");
  EXPECT_EQ(result.index, 2);
  EXPECT_EQ(result.wrong_count, 4);
  EXPECT_EQ(result.reason, "c[2] was never written (2 of 5 elements)");
  EXPECT_EQ(result.worst_error, 4);
}

TEST(Compare, AValueOffIsGivenWithWhatItShouldBe) {
  const Correctness result = compare(std::vector<float>{1, 9, 3}, expect({1, 2, 3}, 0.5));
  EXPECT_EQ(result.wrong, Wrong::off);
  EXPECT_EQ(result.reason, "c[1] is 9, it should be 2 (off by 7, allowed 0.5) (1 of 3 elements)");
  EXPECT_FALSE(result.looks_like_half);
}

TEST(Compare, MatricesAreNamedByRowAndColumn) {
  Expected expected = expect({1, 2, 3, 4, 5, 6});
  expected.row_length = 3;
  EXPECT_THAT(compare(std::vector<float>{1, 2, 3, 4, 7, 6}, expected).reason, HasSubstr("c[1, 1] is 7"));
}

// Floats hold neither value of each pair.
TEST(Compare, IntegersAreComparedAsIntegers) {
  using Integers = std::vector<std::int32_t>;
  EXPECT_TRUE(compare(Integers{16'777'217, -1'073'741'823}, expect({16'777'217, -1'073'741'823})).correct);
  const Correctness result = compare(Integers{16'777'217, 1'073'741'825}, expect({16'777'217, 1'073'741'823}));
  EXPECT_EQ(result.reason, "c[1] is 1073741825, it should be 1073741823 (off by 2, allowed 0) (1 of 2 elements)");
  EXPECT_EQ(result.worst_error, 2);
  EXPECT_EQ(compare(Integers{16'777'216}, expect({16'777'217})).wrong_count, 1);
  EXPECT_EQ(compare(Integers{std::numeric_limits<std::int32_t>::min()}, expect({0})).wrong, Wrong::off);
  EXPECT_EQ(compare(Integers{static_cast<std::int32_t>(kPoison)}, expect({1})).wrong, Wrong::unwritten);
}

// Compares 1000 values, each with the relative error `relative`.
Correctness with_relative_error(double relative) {
  std::vector<double> values;
  std::vector<float> results;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(std::sin(i + 0.5));
    results.push_back(static_cast<float>(values.back() * (1 + (i % 2 != 0 ? relative : -relative))));
  }
  return compare(results, expect(std::move(values), 0x1p-23));
}

TEST(Compare, ErrorsOfHalfPrecisionAreToldFromOthers) {
  EXPECT_TRUE(with_relative_error(0).correct);
  EXPECT_TRUE(with_relative_error(0x1p-12).looks_like_half);  // half
  EXPECT_TRUE(with_relative_error(0x1p-9).looks_like_half);   // bfloat16
  EXPECT_FALSE(with_relative_error(0x1p-20).looks_like_half);
  EXPECT_FALSE(with_relative_error(0x1p-20).correct);
  EXPECT_FALSE(with_relative_error(0x1p-3).looks_like_half);
  EXPECT_THAT(with_relative_error(0x1p-12).reason, HasSubstr("half precision"));
}

TEST(Compare, OneLargeErrorIsNotHalfPrecision) {
  std::vector<double> values(100, 1.0);
  std::vector<float> results(100, 1.0f + 0x1p-11f);
  EXPECT_TRUE(compare(results, expect(values, 0x1p-23)).looks_like_half);
  results[50] = 2.0f;
  EXPECT_FALSE(compare(results, expect(values, 0x1p-23)).looks_like_half);
}

TEST(Compare, AFewElementsOffAreNotHalfPrecision) {
  std::vector<float> results(100, 1.0f);
  results[99] = results[98] = 1.0f + 0x1p-11f;
  EXPECT_FALSE(compare(results, expect(std::vector<double>(100, 1.0), 0x1p-23)).looks_like_half);
}

}  // namespace
}  // namespace roofwalk
