// What the exercises of half-precision operations share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/exercise/exercise.h"

namespace roofwalk {

// An output of halves: each value may be off by `errors` of its own before it is rounded to a half.
Expected expected_halves(std::string name, std::vector<double> values, const std::vector<double>& errors,
                         std::int64_t row_length);

// Rows of which at most 16 differ, in an order drawn from the seed. What an operation does to equal rows is equal, so a
// large problem is compared in full for the price of a small one.
std::vector<float> repeated_rows(std::int64_t rows, std::int64_t width, std::uint64_t seed, std::string_view stream);

// For each row the first one that is equal to it.
std::vector<std::int64_t> first_equal_rows(const float* values, std::int64_t rows, std::int64_t width);

// In double. Sixteen sums side by side: strict order would wait for each addition.
double dot(const float* a, const float* b, std::int64_t count);

}  // namespace roofwalk
