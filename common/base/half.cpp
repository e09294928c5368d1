#include "common/base/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace roofwalk {
namespace {

constexpr std::uint32_t kInfinity = 0x7f80'0000u, kHalfInfinity = 0x7c00u, kHalfNan = 0x7e00u;
constexpr int kFractionShift = 13;  // fraction bits of a float beyond those of a half

}  // namespace

float half_rounded(double value) {
  constexpr int kMantissaBits = 11, kSmallestExponent = -13;  // 1.x * 2^-14, which frexp writes as 0.1x * 2^-13
  constexpr double kLargest = 65504;
  if (value == 0 || !std::isfinite(value)) return static_cast<float>(value);
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent, kSmallestExponent) - kMantissaBits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (std::abs(rounded) > kLargest)
    return static_cast<float>(std::copysign(std::numeric_limits<double>::infinity(), value));
  return static_cast<float>(rounded);
}

// The exponent biases of float and half differ by 112, so scaling the float by 2^-112 and shifting it gives the bits of
// the half, even of a subnormal one.
std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fff'ffffu, sign = bits >> 16 & 0x8000u;
  if (magnitude >= kInfinity)
    return static_cast<std::uint16_t>(sign | (magnitude > kInfinity ? kHalfNan : kHalfInfinity));
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p-112f);
  return static_cast<std::uint16_t>(sign | scaled >> kFractionShift);
}

float half_value(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffu, sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t shifted = magnitude << kFractionShift;
  const std::uint32_t value = magnitude >= kHalfInfinity
                                  ? shifted | kInfinity
                                  : std::bit_cast<std::uint32_t>(std::bit_cast<float>(shifted) * 0x1p112f);
  return std::bit_cast<float>(value | sign);
}

}  // namespace roofwalk
