// Input values that exercises share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace roofwalk {

// Uniform in [-1, 1). Zero-mean on purpose: where a mean dominates the sums, honest rounding errors look like those of
// half precision. Each stream ("a", "b") is independent of the others for the same seed.
std::vector<float> random_values(std::int64_t count, std::uint64_t seed, std::string_view stream);

// The same, multiples of 2^-10: a half holds each of them exactly, and eight times each.
std::vector<float> random_halves(std::int64_t count, std::uint64_t seed, std::string_view stream);

}  // namespace roofwalk
