// Input values that exercises share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace roofwalk {

// Uniform in [-1, 1). Zero-mean on purpose: where a mean dominates the sums, fp32 rounding errors look like those of
// half precision. Streams ("a", "b") are independent of each other for the same seed.
std::vector<float> random_values(std::int64_t count, std::uint64_t seed, std::string_view stream);

// The same, in multiples of 2^-10: a half holds each value exactly, and eight times each value, too.
std::vector<float> random_halves(std::int64_t count, std::uint64_t seed, std::string_view stream);

}  // namespace roofwalk
