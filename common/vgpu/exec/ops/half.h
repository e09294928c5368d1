// The 16-bit floats: IEEE 754 binary16 and bfloat16 (binary32 cut to 16 bits). They are computed in binary32 and
// rounded once.
//
// Why one rounding gives the exact result: binary32 has 24 bits, binary16 has 11, bfloat16 has 8. A sum or product that
// is rounded to at least 2p + 2 bits and then to p bits equals one that is rounded once (S. A. Figueroa, When is double
// rounding innocuous?, 1995). For subnormal results, a sum of binary16 is exact in binary32, and a product keeps all
// its bits or is so small that both ways give zero. A fused multiply-add needs more: a * b is exact, and the sum is
// rounded to odd if it is inexact. If a number is rounded to odd with at least two bits more than the final result, the
// final rounding gives the same as a rounding of the exact number (S. Boldo, G. Melquiond, Emulation of a FMA and
// correctly rounded sums, 2008).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/vgpu/exec/ops/math.h"

namespace roofwalk::vgpu {

struct Half {  // 1 sign, 5 exponent, 10 fraction
  std::uint16_t bits;
  static constexpr int kDigits = 11, kLeastExponent = -14, kMostExponent = 15;
  static constexpr std::uint16_t kOne = 0x3c00, kNan = 0x7fff;
};
struct BFloat {  // 1 sign, 8 exponent, 7 fraction
  std::uint16_t bits;
  static constexpr int kDigits = 8, kLeastExponent = -126, kMostExponent = 127;
  static constexpr std::uint16_t kOne = 0x3f80, kNan = 0x7fff;
};
template <class T>
inline constexpr bool kIsNarrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

// Converts exactly. Has no branches, so that loops over lanes become vector code.
inline float widen(Half h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = h.bits & 0x7fffu;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) *
                                                           0x1p-24f);  // subnormals and zero
  const std::uint32_t normal = (magnitude << 13) + 0x3800'0000u;
  const std::uint32_t special = magnitude << 13 | 0x7f80'0000u;  // infinity and NaN
  const std::uint32_t bits = magnitude < 0x400u ? small : magnitude >= 0x7c00u ? special : normal;
  return std::bit_cast<float>(bits | sign);
}
inline float widen(BFloat b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16); }

// Rounds to nearest, ties to even; every NaN becomes PTX's canonical NaN.
template <class T>
inline T narrow(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fff'ffffu, sign = bits >> 16 & 0x8000u;
  std::uint32_t out;
  if constexpr (std::is_same_v<T, Half>) {
    // Subnormal or zero: adding 0.5 aligns the remaining bits with the end of the fraction.
    const std::uint32_t small =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude < 0x3880'0000u ? magnitude : 0u) + 0.5f) -
        0x3f00'0000u;
    const std::uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x3800'0000u) >> 13;
    out = magnitude < 0x3880'0000u ? small : magnitude >= 0x4780'0000u ? 0x7c00u : normal;
  } else {
    out = (magnitude + 0x7fffu + (magnitude >> 16 & 1u)) >> 16;
  }
  return T{static_cast<std::uint16_t>(magnitude > 0x7f80'0000u ? T::kNan : out | sign)};
}

// Rounds the exact value x + error to odd, where x is the nearest T: if x is inexact, the result is whichever of the
// two neighbours of the exact value has an odd last bit.
template <class T, class E>
inline T odd(T x, E error) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const Bits bits = std::bit_cast<Bits>(x);
  const bool exact = !(error < 0 || error > 0) || (bits & 1) != 0;
  const bool grows = (error < 0) == (bits < 0);  // the odd neighbour has the larger magnitude
  return std::bit_cast<T>(exact ? bits : grows ? bits + 1 : bits - 1);
}

// Rounds to the nearest T, via a float rounded to odd (see odd()). `x` is exact or itself rounded to odd.
template <class T>
inline T narrow_nearest(double x) {
  const auto nearest = static_cast<float>(x);
  return narrow<T>(odd(nearest, x - nearest));
}

// Rounds to T in the given direction. `x` is exact or rounded to odd (see odd()).
template <class T>
inline T narrow_directed(double x, Direction direction) {
  if (x != x) return T{T::kNan};
  if (direction == Direction::nearest) return narrow_nearest<T>(x);
  const bool away = (direction == Direction::up) == (x > 0);
  const bool truncates = direction == Direction::zero || !away;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| < 2^exponent
  const int spacing = std::max(exponent - 1, T::kLeastExponent) - (T::kDigits - 1);
  const double steps = std::ldexp(x, -spacing);
  const double whole = direction == Direction::zero   ? std::trunc(steps)
                       : direction == Direction::down ? std::floor(steps)
                                                      : std::ceil(steps);
  double value = std::isfinite(x) ? std::copysign(std::ldexp(whole, spacing), x) : x;
  const double largest = std::ldexp(2 - std::ldexp(1.0, 1 - T::kDigits), T::kMostExponent);
  if (std::fabs(value) > largest && std::isfinite(x)) {
    value = std::copysign(truncates ? largest : std::numeric_limits<double>::infinity(), x);
  }
  return narrow<T>(static_cast<float>(value));  // exact: no rounding left
}

// a + b, rounded to odd: Knuth's TwoSum gives the exact error of the sum.
template <class T>
inline T odd_sum(T a, T b) {
  const T s = a + b, t = s - a;
  return odd(s, (a - (s - t)) + (b - t));
}

// a * b + c in one rounding. The product of two Halfs is exact in float, that of two BFloats in double.
inline Half fused(Half a, Half b, Half c) { return narrow<Half>(odd_sum(widen(a) * widen(b), widen(c))); }
inline BFloat fused(BFloat a, BFloat b, BFloat c) {
  return narrow_nearest<BFloat>(odd_sum(static_cast<double>(widen(a)) * widen(b), static_cast<double>(widen(c))));
}

}  // namespace roofwalk::vgpu
