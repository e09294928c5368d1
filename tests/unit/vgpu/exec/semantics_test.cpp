// Edge cases of the scalar semantics: cases that C++ leaves undefined, and rules of IEEE 754 and PTX.
#include "common/vgpu/exec/ops/semantics.h"

#include <gtest/gtest.h>

namespace roofwalk::vgpu {
namespace {

TEST(Semantics, IntegersWrapAndNeverTrap) {
  EXPECT_EQ(sem::Add::apply(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(sem::Mul::apply<std::uint16_t>(65535, 65535), 1);
  EXPECT_EQ(sem::Div::apply(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(sem::Rem::apply(INT32_MIN, -1), 0);
  EXPECT_EQ(sem::Div::apply(5u, 0u), ~0u);
  EXPECT_EQ(sem::MulHi::apply<std::int64_t>(-1, 5), -1);
  EXPECT_EQ(sem::MulHi::apply<std::uint32_t>(0x8000'0000u, 6), 3u);
}

TEST(Semantics, ShiftsClampAtTheWidth) {
  EXPECT_EQ(sem::Shl::apply(1u, 32), 0u);
  EXPECT_EQ(sem::Shr::apply(-8, 40), -1);
  EXPECT_EQ(sem::Shr::apply(0x8000'0000u, 31), 1u);
  EXPECT_EQ((sem::FunnelShift<true, false>::apply(0x8000'0000u, 1u, 1)), 3u);
  EXPECT_EQ((sem::FunnelShift<false, true>::apply(1u, 5u, 99)), 5u);
}

TEST(Semantics, BitFields) {
  EXPECT_EQ(sem::Bfe::apply(0xabcdu, 4, 8), 0xbcu);
  EXPECT_EQ(sem::Bfe::apply<std::int32_t>(0x80, 4, 4), -8);
  EXPECT_EQ(sem::Bfe::apply<std::int32_t>(-1, 28, 16), -1);
  EXPECT_EQ(sem::Bfe::apply(0xffu, 3, 0), 0u);
  EXPECT_EQ(sem::Bfi::apply(0xffu, 0u, 8, 4), 0xf00u);
  EXPECT_EQ(sem::Prmt::apply(0x33221100u, 0x77665544u, 0x7610u), 0x77661100u);
  EXPECT_EQ(sem::Prmt::apply(0x00008000u, 0, 0x9999u), 0xffffffffu);
}

TEST(Semantics, MinAndMaxPreferNumbersAndOrderZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(sem::Min::apply(nan, 2.0f), 2.0f);
  EXPECT_EQ(sem::Max::apply(1.0f, nan), 1.0f);
  EXPECT_TRUE(std::signbit(sem::Min::apply(0.0f, -0.0f)));
  EXPECT_FALSE(std::signbit(sem::Max::apply(-0.0f, 0.0f)));
}

TEST(Math, DirectedRoundingBracketsTheExactValue) {
  std::uint32_t state = 12345;
  const auto next = [&state] {
    state = state * 1664525u + 1013904223u;
    return std::bit_cast<float>(0x3000'0000u + state % 0x2000'0000u) * ((state & 1u) != 0 ? 1.0f : -1.0f);
  };
  for (int i = 0; i < 20'000; ++i) {
    const float a = next(), b = next(), c = next();
    const float down = fma_directed(a, b, c, Direction::down), up = fma_directed(a, b, c, Direction::up);
    const float nearest = std::fma(a, b, c), zero = fma_directed(a, b, c, Direction::zero);
    ASSERT_TRUE(down == nearest || up == nearest);
    ASSERT_TRUE(down == up || up == std::nextafter(down, std::numeric_limits<float>::infinity()));
    ASSERT_EQ(zero, nearest > 0 ? down : up);
  }
  EXPECT_TRUE(std::signbit(fma_directed(1.0f, 1.0f, -1.0f, Direction::down)));
}

// The remainder of a huge argument must neither be garbage nor take longer than that of others: the budget of work
// charges all the same. Expected values from 400-bit arithmetic.
TEST(Math, SinesOfHugeArguments) {
  struct Known {
    float x;
    double sine, cosine;
  };
  for (const auto& [x, sine, cosine] : {
           Known{0x1p30f, -0.617326415046042, 0.786707122941188},
           Known{0x1.8p31f, -0.910946852717084, -0.412523734498804},
           Known{0x1.2a05f2p33f, -0.487506025087511, 0.873119622676856},
           Known{0x1.93e594p99f, -0.791163438521984, -0.611604785417897},
           Known{0x1.921fb6p60f, 0.108281717145402, -0.99412024913088},
           Known{0x1.fffffep127f, -0.521876523333659, 0.853021039830304},
           Known{0x1.0p127f, 0.62338551295587, 0.78191463871496},
           Known{0x1.6ac5b2p89f, -0.626491063368548, 0.779428603221197},
       }) {
    EXPECT_NEAR(sin_approx(x), sine, 0x1p-24) << x;
    EXPECT_NEAR(cos_approx(x), cosine, 0x1p-24) << x;
    EXPECT_EQ(sin_approx(-x), -sin_approx(x)) << x;
    EXPECT_EQ(cos_approx(-x), cos_approx(x)) << x;
  }
  // Both reductions agree where both are accurate, and next to the limit between them.
  for (std::uint32_t bits = 0x4c00'0000; bits < 0x4e80'0000; bits += 4999) {
    const float x = std::bit_cast<float>(bits);
    const auto [n, r] = reduce_moderate(x);
    const auto [huge_n, huge_r] = reduce_huge(x);
    ASSERT_EQ((n - huge_n) & 3, 0) << x;
    ASSERT_NEAR(r, huge_r, 0x1p-23) << x;
  }
}

TEST(Math, ApproximationsAreWithinTheirDocumentedErrors) {
  for (int i = -4000; i <= 4000; ++i) {
    const float x = static_cast<float>(i) * 0.0071f;
    ASSERT_NEAR(ex2_approx(x) / std::exp2(static_cast<double>(x)), 1, 0x1p-23) << x;
    ASSERT_NEAR(sin_approx(x), std::sin(static_cast<double>(x)), 0x1p-23) << x;
    ASSERT_NEAR(cos_approx(x), std::cos(static_cast<double>(x)), 0x1p-23) << x;
    ASSERT_NEAR(tanh_approx(x), std::tanh(static_cast<double>(x)), 0x1p-23) << x;
    if (i > 0) {
      ASSERT_NEAR(lg2_approx(x), std::log2(static_cast<double>(x)), 0x1p-21) << x;
    }
  }
  EXPECT_EQ(ex2_approx(-200.0f), 0.0f);
  EXPECT_EQ(ex2_approx(200.0f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(lg2_approx(0.0f), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(lg2_approx(-1.0f)));
}

TEST(Math, FlushKeepsTheSign) {
  EXPECT_EQ(std::bit_cast<std::uint32_t>(flush(-1e-40f)), 0x8000'0000u);
  EXPECT_EQ(flush(1.5e-38f), 1.5e-38f);
}

}  // namespace
}  // namespace roofwalk::vgpu
