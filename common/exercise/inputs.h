// Input values that several exercises use.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace roofwalk {

// Returns uniform values in [-1, 1). The mean is 0 on purpose: if a mean dominates the sums, fp32 rounding errors look
// like those of half precision. Streams ("a", "b") with the same seed are independent of each other.
std::vector<float> random_values(std::int64_t count, std::uint64_t seed, std::string_view stream);

// Like random_values(), but returns multiples of 2^-10, so that a half represents each value exactly, and also each
// value times eight.
std::vector<float> random_halves(std::int64_t count, std::uint64_t seed, std::string_view stream);

}  // namespace roofwalk
