#include "common/base/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace roofwalk {
namespace {

TEST(HalfRounded, KeepsElevenBitsTiesToEven) {
  EXPECT_EQ(half_rounded(0), 0.0f);
  EXPECT_EQ(half_rounded(1), 1.0f);
  EXPECT_EQ(half_rounded(1 + 0x1p-11), 1.0f);             // halfway: to even
  EXPECT_EQ(half_rounded(1 + 3 * 0x1p-11), 1 + 0x1p-9f);  // halfway: to even
  EXPECT_EQ(half_rounded(1 + 0x1.1p-11), 1 + 0x1p-10f);
  EXPECT_EQ(half_rounded(-0.1), -0x1.998p-4f);
  EXPECT_EQ(half_rounded(65504), 65504.0f);
  EXPECT_TRUE(std::isinf(half_rounded(1e6)));
  EXPECT_EQ(half_rounded(0x1p-24), 0x1p-24f);  // the smallest subnormal
  EXPECT_EQ(half_rounded(0x1p-26), 0.0f);
}

TEST(HalfBits, AreThoseOfTheFormat) {
  EXPECT_EQ(half_bits(0.0f), 0x0000);
  EXPECT_EQ(half_bits(-0.0f), 0x8000);
  EXPECT_EQ(half_bits(1.0f), 0x3c00);
  EXPECT_EQ(half_bits(-2.0f), 0xc000);
  EXPECT_EQ(half_bits(65504.0f), 0x7bff);
  EXPECT_EQ(half_bits(0x1p-14f), 0x0400);
  EXPECT_EQ(half_bits(0x1p-24f), 0x0001);
  EXPECT_EQ(half_bits(-INFINITY), 0xfc00);
  EXPECT_EQ(half_bits(NAN), 0x7e00);
}

TEST(HalfBits, OfEveryHalfComeBack) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = half_value(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_GT(bits & 0x7fffu, 0x7c00u);
      continue;
    }
    ASSERT_EQ(half_bits(value), bits);
    ASSERT_EQ(half_rounded(value), value);
  }
}

}  // namespace
}  // namespace roofwalk
