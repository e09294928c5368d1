// 16-bit floats, checked with integers: every number is an integer times a power of two, so sums and products are exact
// in wide integers and are rounded once, by hand.
#include "common/vgpu/exec/ops/half.h"

#include <gtest/gtest.h>

#include "common/base/int128.h"
#include "common/vgpu/exec/ops/semantics.h"

namespace roofwalk::vgpu {
namespace {

template <class T>
struct Layout;
template <>
struct Layout<Half> {
  static constexpr int kFractionBits = 10, kBias = 15;
};
template <>
struct Layout<BFloat> {
  static constexpr int kFractionBits = 7, kBias = 127;
};

// The number whole * 2^exponent.
struct Exact {
  Int128 whole;
  int exponent;
};

template <class T>
bool is_finite(T x) {
  constexpr int kMax = (1 << (15 - Layout<T>::kFractionBits)) - 1;
  return (x.bits >> Layout<T>::kFractionBits & kMax) != kMax;
}

template <class T>
Exact exact(T x) {
  constexpr int kFraction = Layout<T>::kFractionBits;
  const int field = x.bits >> kFraction & ((1 << (15 - kFraction)) - 1);
  const int fraction = x.bits & ((1 << kFraction) - 1);
  const int whole = field == 0 ? fraction : fraction | 1 << kFraction;
  return {(x.bits & 0x8000) != 0 ? -whole : whole, std::max(field, 1) - Layout<T>::kBias - kFraction};
}

// Rounds to nearest even using only integers. `zero_sign` is the sign of an exact zero.
template <class T>
T nearest(Exact value, std::uint16_t zero_sign) {
  constexpr int kFraction = Layout<T>::kFractionBits, kLeast = 1 - Layout<T>::kBias - kFraction;
  const bool negative = value.whole < 0;
  const auto sign = static_cast<std::uint16_t>(value.whole == 0 ? zero_sign : negative ? 0x8000 : 0);
  UInt128 whole = static_cast<UInt128>(negative ? -value.whole : value.whole);
  int exponent = value.exponent;
  bool half = false, rest = false;
  while (whole >> (kFraction + 1) != 0 || exponent < kLeast) {
    rest = rest || half;
    half = (whole & 1) != 0;
    whole >>= 1, ++exponent;
  }
  if (half && (rest || (whole & 1) != 0)) ++whole;
  if (whole == 0) return T{sign};
  while (whole >> kFraction == 0 && exponent > kLeast) whole <<= 1, --exponent;
  // A carry from the fraction into the exponent field gives the next power of two, and infinity beyond the largest
  // number.
  const int field = exponent - kLeast;
  const std::uint64_t bits = static_cast<std::uint64_t>(whole) + (static_cast<std::uint64_t>(field) << kFraction);
  const std::uint64_t infinity = 0x7fffu >> kFraction << kFraction;
  return T{static_cast<std::uint16_t>(sign | std::min(bits, infinity))};
}

Exact sum(Exact a, Exact b) {
  if (a.whole == 0 || b.whole == 0) return a.whole == 0 ? b : a;
  if (a.exponent < b.exponent) std::swap(a, b);
  constexpr int kFar = 80;  // significands have at most 22 bits, so bits further off only break ties
  if (a.exponent - b.exponent > kFar) b = {b.whole < 0 ? -1 : 1, a.exponent - kFar};
  return {a.whole * (Int128{1} << (a.exponent - b.exponent)) + b.whole, b.exponent};
}

Exact product(Exact a, Exact b) { return {a.whole * b.whole, a.exponent + b.exponent}; }

template <class T>
class Arithmetic : public ::testing::Test {
 protected:
  // Returns random bits, or a number near `like` in magnitude, so that sums cancel and tie.
  T next(T like) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    const auto any = static_cast<std::uint16_t>(state_ >> 40);
    const auto near = static_cast<std::uint16_t>(like.bits ^ (any & 0x83ffu));
    const T x{(state_ >> 60 & 1) != 0 ? near : any};
    return is_finite(x) ? x : T{static_cast<std::uint16_t>(x.bits & 0xbfffu)};
  }

 private:
  std::uint64_t state_ = 1;
};

using NarrowTypes = ::testing::Types<Half, BFloat>;
TYPED_TEST_SUITE(Arithmetic, NarrowTypes);

TYPED_TEST(Arithmetic, RoundsOnce) {
  using T = TypeParam;
  T a{1}, b{1}, c{1};
  for (int i = 0; i < 200'000; ++i) {
    a = this->next(c), b = this->next(a);
    const Exact p = product(exact(a), exact(b));
    // The addend is near the product or near a halfway point beside it.
    c = this->next(nearest<T>(p, 0));
    const auto both = static_cast<std::uint16_t>(a.bits & b.bits & 0x8000u);
    const auto odd_sign = static_cast<std::uint16_t>((a.bits ^ b.bits) & 0x8000u);
    ASSERT_EQ(sem::Add::apply(a, b).bits, nearest<T>(sum(exact(a), exact(b)), both).bits) << a.bits << " " << b.bits;
    const T minus{static_cast<std::uint16_t>(b.bits ^ 0x8000u)};
    const auto other_sign = static_cast<std::uint16_t>(a.bits & minus.bits & 0x8000u);
    ASSERT_EQ(sem::Sub::apply(a, b).bits, nearest<T>(sum(exact(a), exact(minus)), other_sign).bits);
    ASSERT_EQ(sem::Mul::apply(a, b).bits, nearest<T>(p, odd_sign).bits) << a.bits << " " << b.bits;
    const auto fused_sign = static_cast<std::uint16_t>(odd_sign & c.bits);
    ASSERT_EQ(sem::Fma::apply(a, b, c).bits, nearest<T>(sum(p, exact(c)), fused_sign).bits)
        << a.bits << " " << b.bits << " " << c.bits;
  }
}

TYPED_TEST(Arithmetic, WidensAndNarrowsEveryNumber) {
  using T = TypeParam;
  for (std::uint32_t bits = 0; bits <= 0xffffu; ++bits) {
    const T x{static_cast<std::uint16_t>(bits)};
    const float wide = widen(x);
    if (wide != wide) {
      ASSERT_EQ(narrow<T>(wide).bits, T::kNan);
      continue;
    }
    ASSERT_EQ(narrow<T>(wide).bits, bits);
    for (const Direction direction : {Direction::nearest, Direction::zero, Direction::down, Direction::up}) {
      ASSERT_EQ(narrow_directed<T>(wide, direction).bits, bits);
    }
    if (!is_finite(x)) continue;
    ASSERT_EQ(static_cast<double>(wide), std::ldexp(static_cast<double>(exact(x).whole), exact(x).exponent));
    // A double slightly above x.
    const double above = std::nextafter(static_cast<double>(wide), 1e300);
    ASSERT_EQ(narrow_directed<T>(above, Direction::down).bits, above > 0 && (bits & 0x8000u) != 0 ? 0 : bits);
    const T up = narrow_directed<T>(above, Direction::up);
    ASSERT_GE(static_cast<double>(widen(up)), above);
    ASSERT_EQ(narrow_directed<T>(above, Direction::zero).bits,
              above > 0 ? narrow_directed<T>(above, Direction::down).bits : up.bits);
  }
}

TYPED_TEST(Arithmetic, HasInfinityAndOneNan) {
  using T = TypeParam;
  const T infinity = narrow<T>(std::numeric_limits<float>::infinity());
  const T minus = sem::Neg::apply(infinity), one{T::kOne}, nan{T::kNan};
  const T most{static_cast<std::uint16_t>(infinity.bits - 1)};
  EXPECT_EQ(widen(one), 1.0f);
  EXPECT_EQ(sem::Add::apply(infinity, minus).bits, T::kNan);
  EXPECT_EQ(sem::Fma::apply(infinity, one, one).bits, infinity.bits);
  EXPECT_EQ(sem::Fma::apply(infinity, T{0}, one).bits, T::kNan);
  EXPECT_EQ(sem::Mul::apply(most, most).bits, infinity.bits);
  EXPECT_EQ(sem::Fma::apply(most, most, minus).bits, minus.bits);
  EXPECT_EQ(sem::Add::apply(most, most).bits, infinity.bits);
  EXPECT_EQ(narrow_directed<T>(1e300, Direction::zero).bits, most.bits);
  EXPECT_EQ(narrow_directed<T>(-1e300, Direction::up).bits, most.bits | 0x8000u);
  EXPECT_EQ(narrow_directed<T>(1e300, Direction::up).bits, infinity.bits);
  EXPECT_EQ(sem::Max::apply(nan, one).bits, T::kOne);
  EXPECT_EQ(sem::Min::apply(T{0x8000}, T{0}).bits, 0x8000);
  EXPECT_EQ(sem::Abs::apply(minus).bits, infinity.bits);
}

TEST(Half, RoundsFloatsToEven) {
  EXPECT_EQ(narrow<Half>(1.0f + 0x1p-11f).bits, 0x3c00u);
  EXPECT_EQ(narrow<Half>(1.0f + 3 * 0x1p-11f).bits, 0x3c02u);
  EXPECT_EQ(narrow<Half>(65519.996f).bits, 0x7bffu);
  EXPECT_EQ(narrow<Half>(65520.0f).bits, 0x7c00u);
  EXPECT_EQ(narrow<Half>(-0x1p-24f).bits, 0x8001u);
  EXPECT_EQ(narrow<Half>(0x1p-25f).bits, 0u);
}

TEST(BFloat, FusesWhereTheProductAloneWouldOverflow) {
  const BFloat big = narrow<BFloat>(0x1.8p64f), two_to_64 = narrow<BFloat>(0x1p64f),
               most = narrow<BFloat>(-0x1.fep127f);
  EXPECT_EQ(widen(sem::Fma::apply(big, two_to_64, most)), 0x1.02p127f);
  // 273 = 21 x 13 is halfway between two bfloat16 numbers, so the smallest addend decides the rounding.
  const BFloat a = narrow<BFloat>(21.0f), b = narrow<BFloat>(13.0f);
  EXPECT_EQ(widen(sem::Fma::apply(a, b, narrow<BFloat>(0x1p-100f))), 274.0f);
  EXPECT_EQ(widen(sem::Fma::apply(a, b, narrow<BFloat>(-0x1p-100f))), 272.0f);
}

}  // namespace
}  // namespace roofwalk::vgpu
