// Floating-point operations that are bit-identical on every machine: directed rounding and PTX's approximate functions.
// The latter are computed in double with our own polynomials (libm's last bits differ between versions) and rounded
// once. PTX ISA 9.0 allows these errors: ex2.approx 2 ulp, lg2.approx 2^-22 absolute near 1, rsqrt and rcp 1 ulp, sin
// and cos 2^-20.5 absolute in [-2pi, 2pi], tanh 2^-11 relative. Our results are correctly rounded except for rare ties.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace roofwalk::vgpu {

inline float flush(float x) {
  return (std::bit_cast<std::uint32_t>(x) & 0x7f80'0000u) == 0 ? std::copysign(0.0f, x) : x;
}
inline double flush(double x) { return x; }

// The canonical NaN that PTX arithmetic returns.
inline float canonical_nan() { return std::bit_cast<float>(0x7fff'ffffu); }

enum class Direction { nearest, zero, down, up };

// Rounds the exact value s + e to float; e is the rounding error of s.
inline float round_directed(double s, double e, Direction direction) {
  const float nearest = static_cast<float>(s);
  if (!std::isfinite(s) || direction == Direction::nearest) return nearest;
  const double back = nearest;
  const bool too_big = back > s || (back == s && e < 0);
  const bool too_small = back < s || (back == s && e > 0);
  const bool down = direction == Direction::down || (direction == Direction::zero && (s > 0 || (s == 0 && e > 0)));
  if (down && too_big) return std::nextafter(nearest, -std::numeric_limits<float>::infinity());
  if (!down && too_small) return std::nextafter(nearest, std::numeric_limits<float>::infinity());
  return nearest;
}

// fma with a directed rounding: the product is exact in double, and TwoSum gives the error of the sum.
inline float fma_directed(float a, float b, float c, Direction direction) {
  const double p = static_cast<double>(a) * b;
  const double s = p + c;
  const double t = s - p;
  const double e = (p - (s - t)) + (c - t);
  if (s == 0 && e == 0 && direction == Direction::down && std::signbit(p) != std::signbit(static_cast<double>(c))) {
    return -0.0f;  // an exact zero sum of opposite signs is -0 when rounding down
  }
  return round_directed(s, e, direction);
}

// 2^x in double: x = n + f, |f| <= 1/2, Taylor of e^(f ln 2) to degree 13. Without branches, so that loops over lanes
// become vector code; `x` is clamped to [-1022, 1024]; narrower types round the least result, 2^-1022, to 0.
inline double exp2_double(double x) {
  const double within = x < -1022 ? -1022 : x > 1024 ? 1024 : x;
  const double n = std::nearbyint(within);
  const double y = (within - n) * 0.693147180559945309417;
  double sum = 1;
  for (int k = 13; k >= 1; --k) sum = 1 + sum * y / k;
  const std::int64_t last_bits = std::bit_cast<std::int64_t>(n + 0x1.8p52);  // n as an integer; arbitrary for a NaN
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(last_bits + 1023) << 52);
}

// log2(x) in double for finite x > 0: x = m * 2^exponent with m in [sqrt(1/2), sqrt(2)); log2(m) is an atanh series in
// s = (m-1)/(m+1), |s| < 0.172.
inline double log2_double(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) m *= 2, --exponent;
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return exponent + 2 * s * sum * 1.44269504088896340736;
}

// sin and cos in double: reduction of x to n * pi/2 + r with |r| of at most about pi/4, then Taylor series.
inline double sin_reduced(double r) {
  const double r2 = r * r;
  double sum = 1;
  for (int k = 20; k >= 2; k -= 2) sum = 1 - sum * r2 / (k * (k + 1));
  return r * sum;
}
inline double cos_reduced(double r) {
  const double r2 = r * r;
  double sum = 1;
  for (int k = 19; k >= 1; k -= 2) sum = 1 - sum * r2 / (k * (k + 1));
  return sum;
}

struct Reduced {
  std::int64_t n = 0;  // for huge x modulo 4
  double r = 0;
};

// By Cody and Waite, with pi/2 in two parts. Accurate for moderate |x| only.
inline Reduced reduce_moderate(double x) {
  const double n = std::nearbyint(x * 0.636619772367581343076);
  return {static_cast<std::int64_t>(n), (x - n * 1.5707963267341256142) - n * 6.0771005065061922e-11};
}

// By Payne and Hanek, for finite floats of at least 2^25. Such a float is a whole number of 24 bits times 2^power, so
// in x * 2/pi modulo 4, only 128 bits of 2/pi matter. Constant time: a remainder by division (std::fmod) takes longer
// the larger x is, up to a hundred times, and the budget of work charges each sine the same.
inline Reduced reduce_huge(float x) {
  constexpr std::uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
                                          0xfe5163abdebbc561};  // the first bit is 1/2
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint64_t whole = (bits & 0x7f'ffffu) | 0x80'0000u;
  const std::uint32_t power = (bits >> 23 & 0xffu) - 150;  // 2 to 104
  const std::uint32_t word = (power - 2) / 64, shift = (power - 2) % 64;
  const auto from = [&](std::uint32_t at) {
    return shift == 0 ? kTwoOverPi[at] : kTwoOverPi[at] << shift | kTwoOverPi[at + 1] >> (64 - shift);
  };
  // In units of 2^-62: 2^power * 2/pi modulo 4, its product with `whole`, and that rounded to a whole number.
  const std::uint64_t high = from(word), low = from(word + 1);
  const std::uint64_t product = whole * high + (((whole * (low >> 32)) + (whole * (low & 0xffff'ffffu) >> 32)) >> 32);
  const std::uint64_t n = (product + (std::uint64_t{1} << 61)) >> 62;
  const double r =
      static_cast<double>(static_cast<std::int64_t>(product - (n << 62))) * (0x1p-62 * 1.57079632679489662);
  if (std::signbit(x)) return {-static_cast<std::int64_t>(n), -r};
  return {static_cast<std::int64_t>(n), r};
}

inline double sin_quadrant(float x, int shift) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  const auto [n, r] = std::fabs(x) < 0x1p25f ? reduce_moderate(x) : reduce_huge(x);
  switch ((n + shift) & 3) {
    case 0:
      return sin_reduced(r);
    case 1:
      return cos_reduced(r);
    case 2:
      return -sin_reduced(r);
    default:
      return -cos_reduced(r);
  }
}

inline float ex2_approx(float x) { return static_cast<float>(exp2_double(x)); }
inline float lg2_approx(float x) {
  if (x != x || x < 0) return canonical_nan();
  if (x == 0) return -std::numeric_limits<float>::infinity();
  if (std::isinf(x)) return x;
  return static_cast<float>(log2_double(x));
}
inline float sin_approx(float x) { return x == 0 ? x : static_cast<float>(sin_quadrant(x, 0)); }
inline float cos_approx(float x) { return static_cast<float>(sin_quadrant(x, 1)); }
inline float tanh_approx(float x) {
  if (x != x) return canonical_nan();
  if (std::fabs(x) < 0x1p-13f) return x;  // the error is below half an ulp, and 1 - e would cancel
  const double e = exp2_double(-2 * 1.44269504088896340736 * std::fabs(static_cast<double>(x)));
  return static_cast<float>(std::copysign((1 - e) / (1 + e), static_cast<double>(x)));
}

}  // namespace roofwalk::vgpu
