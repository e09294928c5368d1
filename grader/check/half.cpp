#include "grader/check/half.h"

#include <cmath>
#include <limits>

namespace roofwalk {

float half_rounded(double value) {
  constexpr int kMantissaBits = 11, kSmallestExponent = -13;  // of 1.x * 2^-14 in frexp's 0.1x form
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

std::vector<std::vector<float>> half_answer(const Exercise& exercise, const Size& size, const Problem& problem) {
  Problem rounded = problem;
  for (Parameter& parameter : rounded.parameters) {
    if (auto* input = std::get_if<InputBuffer>(&parameter)) {
      for (float& value : input->values) value = half_rounded(value);
    }
  }
  std::vector<std::vector<float>> answer;
  for (const Expected& expected : exercise.reference(size, rounded)) {
    answer.emplace_back();
    for (const double value : expected.values) answer.back().push_back(half_rounded(value));
  }
  return answer;
}

}  // namespace roofwalk
