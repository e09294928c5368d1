#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "common/verify/verify.h"

namespace roofwalk {
namespace {

constexpr std::uint32_t kMagnitudeBits = 0x7fff'ffffu;
constexpr std::uint32_t kInfinityBits = 0x7f80'0000u;
// A half keeps 10 bits of a float's 23-bit fraction.
constexpr std::uint32_t kBitsBelowHalf = (1u << 13) - 1;

// Classifies by bits, not by value, because fast-math would break comparisons with NaN.
Wrong classify(float value, double expected, double tolerance) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (bits == kPoison) return Wrong::unwritten;
  if ((bits & kMagnitudeBits) > kInfinityBits) return Wrong::nan;
  if ((bits & kMagnitudeBits) == kInfinityBits) return Wrong::infinite;
  return !(std::fabs(static_cast<double>(value) - expected) <= tolerance) ? Wrong::off : Wrong::none;
}

Wrong classify(std::int32_t value, double expected, double tolerance) {
  ROOFWALK_CHECK(expected < static_cast<double>(kPoison));  // else what was never written could be right
  if (static_cast<std::uint32_t>(value) == kPoison) return Wrong::unwritten;
  return std::fabs(value - expected) > tolerance ? Wrong::off : Wrong::none;
}

// Sums over an output's finite elements, which reveal the kind of error.
struct ErrorShape {
  std::int64_t count = 0, off = 0;
  double squared_errors = 0, squared_expected = 0;
  double worst_error = 0, largest_expected = 0;
  bool all_values_are_halves = true;

  void add(float value, double expected) {
    const double error = std::fabs(static_cast<double>(value) - expected);
    ++count;
    squared_errors += error * error;
    squared_expected += expected * expected;
    worst_error = std::max(worst_error, error);
    largest_expected = std::max(largest_expected, std::fabs(expected));
    all_values_are_halves &= (std::bit_cast<std::uint32_t>(value) & kBitsBelowHalf) == 0;
  }
  void add(std::int32_t value, double expected) { worst_error = std::max(worst_error, std::fabs(value - expected)); }

  // Whether the errors look like those of half precision. Rounding to 11 significant bits (half, TF32) or 8 (bfloat16)
  // causes errors of 2^-12 or 2^-9 of a typical value in every element and no large ones; a wrong index or a missing
  // term looks different. Never of integers.
  bool looks_like_half() const {
    if (count == 0 || off * 2 < count || squared_expected == 0) return false;
    const double relative = std::sqrt(squared_errors / squared_expected);
    return relative < 0x1p-7 && worst_error < 0x1p-5 * largest_expected &&
           (all_values_are_halves || relative > 0x1p-18);
  }
};

std::string place(const Expected& expected, std::int64_t index) {
  if (expected.row_length <= 0) return fmt::format("{}[{}]", expected.name, index);
  return fmt::format("{}[{}, {}]", expected.name, index / expected.row_length, index % expected.row_length);
}

// `digits`: of values. Those of integers are whole.
std::string describe(Wrong wrong, const std::string& where, double value, double expected, double tolerance,
                     int digits) {
  switch (wrong) {
    case Wrong::unwritten:
      return fmt::format("{} was never written", where);
    case Wrong::nan:
      return fmt::format("{} is NaN, it should be {:.{}g}", where, expected, digits);
    case Wrong::infinite:
      return fmt::format("{} is infinite, it should be {:.{}g}", where, expected, digits);
    default:
      return fmt::format("{} is {:.{}g}, it should be {:.{}g} (off by {:.2g}, allowed {:.2g})", where, value, digits,
                         expected, digits, std::fabs(value - expected), tolerance);
  }
}

template <class T>
Correctness compare_elements(std::span<const T> values, const Expected& expected) {
  ROOFWALK_CHECK(values.size() == expected.values.size() && values.size() == expected.tolerances.size());
  // The order in which kinds of errors are reported: possible causes before their consequences.
  constexpr Wrong kOrder[] = {Wrong::unwritten, Wrong::nan, Wrong::infinite, Wrong::off};
  std::int64_t counts[std::size(kOrder)] = {}, firsts[std::size(kOrder)] = {};
  Correctness result;
  ErrorShape shape;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ROOFWALK_CHECK(std::isfinite(expected.values[i]) && expected.tolerances[i] >= 0);
    const Wrong wrong = classify(values[i], expected.values[i], expected.tolerances[i]);
    if (wrong == Wrong::none || wrong == Wrong::off) shape.add(values[i], expected.values[i]);
    if (wrong == Wrong::none) continue;
    const auto kind = static_cast<std::size_t>(std::find(std::begin(kOrder), std::end(kOrder), wrong) - kOrder);
    if (counts[kind]++ == 0) firsts[kind] = static_cast<std::int64_t>(i);
    ++result.wrong_count;
  }
  result.worst_error = shape.worst_error;
  result.correct = result.wrong_count == 0;
  if (result.correct) return result;

  const auto kind =
      static_cast<std::size_t>(std::find_if(counts, std::end(counts), [](auto n) { return n > 0; }) - counts);
  const auto first = static_cast<std::size_t>(firsts[kind]);
  shape.off = counts[std::size(kOrder) - 1];
  result.wrong = kOrder[kind];
  result.buffer = expected.name;
  result.index = firsts[kind];
  result.looks_like_half = result.wrong == Wrong::off && shape.looks_like_half();
  constexpr int kDigits = std::is_integral_v<T> ? 10 : 9;
  result.reason = fmt::format("{} ({} of {} element{})",
                              describe(result.wrong, place(expected, result.index), static_cast<double>(values[first]),
                                       expected.values[first], expected.tolerances[first], kDigits),
                              counts[kind], values.size(), values.size() == 1 ? "" : "s");
  if (result.looks_like_half) {
    result.reason += ": all errors are of the size that half precision makes; keep every step in 32-bit floats";
  }
  return result;
}

}  // namespace

Correctness compare(std::span<const float> values, const Expected& expected) {
  return compare_elements(values, expected);
}

Correctness compare(std::span<const std::int32_t> values, const Expected& expected) {
  return compare_elements(values, expected);
}

}  // namespace roofwalk
