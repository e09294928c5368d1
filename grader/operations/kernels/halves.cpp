#include "grader/operations/kernels/halves.h"

#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "common/base/rng.h"
#include "common/exercise/inputs.h"

namespace roofwalk {

Expected expected_halves(std::string name, std::vector<double> values, const std::vector<double>& errors,
                         std::int64_t row_length) {
  constexpr double kRounding = 0x1p-11, kSubnormalRounding = 0x1p-25;
  Expected expected{.name = std::move(name), .values = std::move(values), .tolerances = {}, .row_length = row_length};
  expected.tolerances.resize(expected.values.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double farthest = std::fabs(expected.values[i]) + errors[i];
    expected.tolerances[i] = errors[i] + farthest * kRounding + kSubnormalRounding;
  }
  return expected;
}

std::vector<float> repeated_rows(std::int64_t rows, std::int64_t width, std::uint64_t seed, std::string_view stream) {
  constexpr std::int64_t kDifferent = 16;
  const std::vector<float> different = random_halves(kDifferent * width, seed, stream);
  Rng rng(seed, std::string(stream) + " order");
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(rows * width));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t which = rows <= kDifferent ? row : static_cast<std::int64_t>(rng.next() % kDifferent);
    const auto from = different.begin() + which * width;
    values.insert(values.end(), from, from + width);
  }
  return values;
}

std::vector<std::int64_t> first_equal_rows(const float* values, std::int64_t rows, std::int64_t width) {
  std::unordered_map<std::string_view, std::int64_t> firsts;
  std::vector<std::int64_t> first_of;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::string_view bytes(reinterpret_cast<const char*>(values + row * width),
                                 static_cast<std::size_t>(width) * sizeof(float));
    first_of.push_back(firsts.emplace(bytes, row).first->second);
  }
  return first_of;
}

double dot(const float* a, const float* b, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  std::array<double, kLanes> sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace roofwalk
