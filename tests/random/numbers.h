// Numbers of PTX as exact values: integers in 128 bits, floats in long double, which represents every f64 and every
// 64-bit integer exactly. Rounding uses the processor's modes.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace roofwalk::random {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference needs a wide long double");

struct IntegerType {
  const char* name;
  int bits;
  bool is_signed;
};
inline constexpr IntegerType kU8{"u8", 8, false}, kS8{"s8", 8, true}, kU16{"u16", 16, false}, kS16{"s16", 16, true},
    kU32{"u32", 32, false}, kS32{"s32", 32, true}, kU64{"u64", 64, false}, kS64{"s64", 64, true};

inline std::uint64_t low_bits(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((1ull << bits) - 1);
}
inline std::uint64_t low_bits(Wide value, int bits) { return low_bits(static_cast<std::uint64_t>(value), bits); }
inline Wide value_of(std::uint64_t bits, const IntegerType& type) {
  const std::uint64_t low = low_bits(bits, type.bits);
  const bool negative = type.is_signed && (low >> (type.bits - 1) & 1u) != 0;
  return static_cast<Wide>(low) - (negative ? static_cast<Wide>(1) << type.bits : 0);
}
inline Wide least(const IntegerType& type) { return type.is_signed ? -(static_cast<Wide>(1) << (type.bits - 1)) : 0; }
inline Wide most(const IntegerType& type) {
  return (static_cast<Wide>(1) << (type.bits - (type.is_signed ? 1 : 0))) - 1;
}
inline Wide clamped(Wide value, const IntegerType& type) {
  return value < least(type) ? least(type) : value > most(type) ? most(type) : value;
}

template <class T>
T as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
std::uint64_t raw(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

struct Mode {
  const char* name;
  int mode;
};
inline constexpr Mode kModes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

// Sets a rounding mode, such as FE_TONEAREST, during its lifetime.
class RoundingMode {
 public:
  explicit RoundingMode(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

// A floating-point format with an implicit leading bit: number of digits including it, smallest and largest exponent of
// normal numbers.
struct FloatFormat {
  int digits, least_exponent, most_exponent;
  int exponent_bits;
};
inline constexpr FloatFormat kHalf{11, -14, 15, 5}, kBrain{8, -126, 127, 8}, kSingle{24, -126, 127, 8},
    kTensor{11, -126, 127, 8};

inline constexpr std::uint64_t kNanOfSingle = 0x7fffffff, kNanOfShort = 0x7fff, kNanOfDouble = 0x7ff8'0000'0000'0000;

inline std::uint64_t single(float value) { return value != value ? kNanOfSingle : raw(value); }
inline std::uint64_t twice(double value) { return value != value ? kNanOfDouble : raw(value); }

inline long double decode(std::uint64_t bits, const FloatFormat& format) {
  const int fraction_bits = format.digits - 1;
  const std::uint64_t fraction = low_bits(bits, fraction_bits);
  const std::uint64_t exponent = low_bits(bits >> fraction_bits, format.exponent_bits);
  const bool negative = (bits >> (fraction_bits + format.exponent_bits) & 1u) != 0;
  const bool special = exponent == (1ull << format.exponent_bits) - 1;
  long double value;
  if (special) {
    value =
        fraction != 0 ? std::numeric_limits<long double>::quiet_NaN() : std::numeric_limits<long double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<long double>(fraction), format.least_exponent - fraction_bits);
  } else {
    value = std::ldexp(static_cast<long double>(fraction | 1ull << fraction_bits),
                       static_cast<int>(exponent) - 1 + format.least_exponent - fraction_bits);
  }
  return negative ? -value : value;
}

// Rounds to `format` with a processor mode or, if `ties_away`, to nearest with ties away from zero.
inline long double rounded(long double value, const FloatFormat& format, int mode, bool ties_away = false) {
  if (value != value || std::isinf(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int spacing = std::max(exponent - 1, format.least_exponent) - (format.digits - 1);
  volatile long double steps = std::ldexp(value, -spacing);
  long double whole;
  if (ties_away) {
    whole = std::copysign(std::floor(std::fabs(steps) + 0.5L), steps);
  } else {
    const RoundingMode at(mode);
    whole = std::rint(steps);
  }
  const long double out = std::copysign(std::ldexp(whole, spacing), value);
  const long double largest = std::ldexp(2 - std::ldexp(1.0L, 1 - format.digits), format.most_exponent);
  if (std::fabs(out) <= largest) return out;
  const bool to_infinity =
      ties_away || mode == FE_TONEAREST || (mode == FE_UPWARD && value > 0) || (mode == FE_DOWNWARD && value < 0);
  return std::copysign(to_infinity ? std::numeric_limits<long double>::infinity() : largest, value);
}

// Returns the bits of a number that the format represents exactly; `nan` for NaN.
inline std::uint64_t encode(long double value, const FloatFormat& format, std::uint64_t nan) {
  if (value != value) return nan;
  const int fraction_bits = format.digits - 1;
  const std::uint64_t sign = static_cast<std::uint64_t>(std::signbit(value)) << (fraction_bits + format.exponent_bits);
  const long double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | ((1ull << format.exponent_bits) - 1) << fraction_bits;
  if (magnitude < std::ldexp(1.0L, format.least_exponent)) {
    return sign | static_cast<std::uint64_t>(std::ldexp(magnitude, fraction_bits - format.least_exponent));
  }
  int exponent = 0;
  const long double significand = std::frexp(magnitude, &exponent);
  const auto all = static_cast<std::uint64_t>(std::ldexp(significand, format.digits));
  return sign | static_cast<std::uint64_t>(exponent - 1 - format.least_exponent + 1) << fraction_bits |
         low_bits(all, fraction_bits);
}

// Returns a + b; if the sum is inexact, its last bit is set, so that rounding it to a much shorter format is correct.
inline long double odd_sum(long double a, long double b) {
  volatile long double x = a, y = b;
  const RoundingMode at(FE_TOWARDZERO);
  std::feclearexcept(FE_INEXACT);
  volatile long double sum = x + y;
  long double out = sum;
  if (std::fetestexcept(FE_INEXACT) != 0) {
    std::uint8_t bytes[sizeof out];
    std::memcpy(bytes, &out, sizeof out);
    bytes[0] |= 1u;
    std::memcpy(&out, bytes, sizeof out);
  }
  return out;
}

inline float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
inline float saturated(float value) { return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f; }

}  // namespace roofwalk::random
