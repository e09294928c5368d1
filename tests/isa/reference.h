// IEEE 754 arithmetic by definition, using only integers: the references for the tests in this folder. An exact number
// is an integer times a power of two; one function rounds it, for all formats and directions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace roofwalk::isa {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

struct Format {
  int exponent_bits, fraction_bits;
  std::uint64_t nan;  // the NaN that arithmetic returns

  int width() const { return 1 + exponent_bits + fraction_bits; }
  std::uint64_t sign() const { return std::uint64_t{1} << (width() - 1); }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits; }
  int least_exponent() const { return 2 - (1 << (exponent_bits - 1)) - fraction_bits; }  // of a subnormal's last bit
  bool is_nan(std::uint64_t bits) const { return (bits & ~sign()) > infinity(); }
  bool is_infinite(std::uint64_t bits) const { return (bits & ~sign()) == infinity(); }
  bool is_zero(std::uint64_t bits) const { return (bits & ~sign()) == 0; }
  bool is_subnormal(std::uint64_t bits) const { return (bits & infinity()) == 0 && !is_zero(bits); }
  bool is_negative(std::uint64_t bits) const { return (bits & sign()) != 0; }
  std::uint64_t flushed(std::uint64_t bits) const { return is_subnormal(bits) ? bits & sign() : bits; }
};

inline constexpr Format kF16{5, 10, 0x7fff}, kBf16{8, 7, 0x7fff}, kTf32{8, 10, 0};
inline constexpr Format kF32{8, 23, 0x7fffffff}, kF64{11, 52, 0x7ff8000000000000};

enum class Round { nearest_even, nearest_away, zero, down, up };

// The number whole * 2^exponent. If `more`, lower bits were dropped, so the exact magnitude is slightly larger.
struct Exact {
  bool negative = false;
  UInt128 whole = 0;
  int exponent = 0;
  bool more = false;
};

inline Exact exact(const Format& format, std::uint64_t bits) {
  const std::uint64_t field = (bits & format.infinity()) >> format.fraction_bits;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const std::uint64_t hidden = field == 0 ? 0 : std::uint64_t{1} << format.fraction_bits;
  return {format.is_negative(bits), hidden | fraction,
          format.least_exponent() + (field == 0 ? 0 : static_cast<int>(field) - 1), false};
}

// Whether an integer is rounded up. `half` is the bit below it, `rest` whether any bit below that is set.
inline bool goes_up(bool odd, bool half, bool rest, bool negative, Round round) {
  switch (round) {
    case Round::nearest_even:
      return half && (rest || odd);
    case Round::nearest_away:
      return half;
    case Round::zero:
      return false;
    case Round::down:
      return negative && (half || rest);
    case Round::up:
      return !negative && (half || rest);
  }
  return false;
}

// Rounds to the format. A zero keeps the sign value.negative. If value.more, `whole` must have more bits than the
// fraction.
inline std::uint64_t rounded(const Format& format, Exact value, Round round) {
  bool half = false, rest = value.more;
  while (value.whole >> (format.fraction_bits + 1) != 0 || value.exponent < format.least_exponent()) {
    rest = rest || half;
    half = (value.whole & 1) != 0;
    value.whole >>= 1, ++value.exponent;
    if (value.whole == 0 && !half && value.exponent < format.least_exponent()) value.exponent = format.least_exponent();
  }
  if (goes_up((value.whole & 1) != 0, half, rest, value.negative, round)) ++value.whole;
  const std::uint64_t sign = value.negative ? format.sign() : 0;
  if (value.whole == 0) return sign;
  while (value.whole >> format.fraction_bits == 0 && value.exponent > format.least_exponent()) {
    value.whole <<= 1, --value.exponent;
  }
  // The exponent field is 0 for a subnormal number; for a normal one, adding the hidden bit raises the field by one.
  const auto field = static_cast<std::uint64_t>(value.exponent - format.least_exponent());
  const UInt128 bits = (static_cast<UInt128>(field) << format.fraction_bits) + value.whole;
  if (bits < format.infinity()) return sign | static_cast<std::uint64_t>(bits);
  const bool to_infinity = round == Round::nearest_even || round == Round::nearest_away ||
                           (round == Round::up && !value.negative) || (round == Round::down && value.negative);
  return sign | (to_infinity ? format.infinity() : format.infinity() - 1);
}

// Returns a + b, exact except for bits more than 70 below the top bit of the larger summand.
inline Exact sum(Exact a, Exact b, bool negative_zero) {
  if (a.whole == 0 && b.whole == 0) return {negative_zero, 0, 0, false};
  if (a.whole == 0) return b;
  if (b.whole == 0) return a;
  // Puts the larger number first and aligns the top bits of both.
  const auto shifted = [](Exact& x) {
    while (x.whole >> 118 == 0) x.whole <<= 1, --x.exponent;
  };
  shifted(a), shifted(b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.whole < b.whole)) std::swap(a, b);
  const int distance = a.exponent - b.exponent;
  const bool gone = distance > 0 && (distance >= 120 || (b.whole & ((UInt128{1} << std::min(distance, 120)) - 1)) != 0);
  const UInt128 small = distance >= 120 ? 0 : b.whole >> distance;
  if (a.negative == b.negative) return {a.negative, a.whole + small, a.exponent, gone};
  const UInt128 whole = a.whole - small - (gone ? 1 : 0);  // bits dropped from b make the result slightly less
  if (whole == 0 && !gone) return {negative_zero, 0, 0, false};
  return {a.negative, whole, a.exponent, gone};
}

inline Exact product(const Exact& a, const Exact& b) {
  return {a.negative != b.negative, a.whole * b.whole, a.exponent + b.exponent, false};
}

// Returns a * b + c with one rounding. Callers compute sums as a * 1 + c, and products as a * b + 0, where 0 has the
// product's sign.
inline std::uint64_t fused(const Format& format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Round round) {
  if (format.is_nan(a) || format.is_nan(b) || format.is_nan(c)) return format.nan;
  const bool product_infinite = format.is_infinite(a) || format.is_infinite(b);
  const bool product_negative = format.is_negative(a) != format.is_negative(b);
  if (product_infinite) {
    if (format.is_zero(a) || format.is_zero(b)) return format.nan;
    if (format.is_infinite(c) && format.is_negative(c) != product_negative) return format.nan;
    return format.infinity() | (product_negative ? format.sign() : 0);
  }
  if (format.is_infinite(c)) return c;
  const Exact p = product(exact(format, a), exact(format, b)), q = exact(format, c);
  // An exact zero has the sign of both summands if they agree; otherwise it is +0, or -0 when rounding down.
  const bool both = p.negative && q.negative, either = p.negative || q.negative;
  const bool negative_zero = both || (either && round == Round::down);
  return rounded(format, sum(p, q, negative_zero), round);
}

inline std::uint64_t one(const Format& format) { return format.infinity() >> 1 & format.infinity(); }
inline std::uint64_t added(const Format& format, std::uint64_t a, std::uint64_t b, Round round) {
  return fused(format, a, one(format), b, round);
}
inline std::uint64_t multiplied(const Format& format, std::uint64_t a, std::uint64_t b, Round round) {
  return fused(format, a, b, (a ^ b) & format.sign(), round);
}

inline std::uint64_t divided(const Format& format, std::uint64_t a, std::uint64_t b, Round round) {
  if (format.is_nan(a) || format.is_nan(b)) return format.nan;
  const std::uint64_t sign = (a ^ b) & format.sign();
  if (format.is_infinite(a)) return format.is_infinite(b) ? format.nan : format.infinity() | sign;
  if (format.is_infinite(b)) return sign;
  if (format.is_zero(b)) return format.is_zero(a) ? format.nan : format.infinity() | sign;
  if (format.is_zero(a)) return sign;
  Exact x = exact(format, a), y = exact(format, b);
  while (x.whole >> 126 == 0) x.whole <<= 1, --x.exponent;
  return rounded(format, {sign != 0, x.whole / y.whole, x.exponent - y.exponent, x.whole % y.whole != 0}, round);
}

inline std::uint64_t root(const Format& format, std::uint64_t a, Round round) {
  if (format.is_nan(a)) return format.nan;
  if (format.is_zero(a)) return a;
  if (format.is_negative(a)) return format.nan;
  if (format.is_infinite(a)) return a;
  Exact x = exact(format, a);
  while (x.whole >> 124 == 0 || (x.exponent & 1) != 0) x.whole <<= 1, --x.exponent;
  UInt128 low = 0, high = UInt128{1} << 64;  // low^2 <= whole < high^2
  while (high - low > 1) {
    const UInt128 middle = (low + high) / 2;
    (middle * middle <= x.whole ? low : high) = middle;
  }
  return rounded(format, {false, low, x.exponent / 2, low * low != x.whole}, round);
}

// Converts from one format to another.
inline std::uint64_t converted(const Format& to, const Format& from, std::uint64_t bits, Round round) {
  if (from.is_nan(bits)) return to.nan;
  const std::uint64_t sign = from.is_negative(bits) ? to.sign() : 0;
  if (from.is_infinite(bits)) return to.infinity() | sign;
  if (from.is_zero(bits)) return sign;
  return rounded(to, exact(from, bits), round);
}

// Clamps to [0, 1]; NaN becomes +0.
inline std::uint64_t saturated(const Format& format, std::uint64_t bits) {
  if (format.is_nan(bits) || format.is_negative(bits)) return 0;
  return bits > one(format) ? one(format) : bits;
}

// Returns the maximum or minimum: -0 is less than +0, and a number is preferred to NaN.
inline std::uint64_t extreme(const Format& format, std::uint64_t a, std::uint64_t b, bool larger) {
  if (format.is_nan(a) && format.is_nan(b)) return format.nan;
  if (format.is_nan(a)) return b;
  if (format.is_nan(b)) return a;
  const auto place = [&](std::uint64_t x) {
    const auto magnitude = static_cast<Int128>(x & ~format.sign());
    return format.is_negative(x) ? -1 - magnitude : magnitude;
  };
  return (place(a) > place(b)) == larger ? a : b;
}

}  // namespace roofwalk::isa
