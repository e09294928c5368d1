// What the exercises of half-precision operations share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/exercise/exercise.h"

namespace roofwalk {

// An output of halves: each value may be off by its entry of `errors` before it is rounded to a half.
Expected expected_halves(std::string name, std::vector<double> values, const std::vector<double>& errors,
                         std::int64_t row_length);

// Rows of which at most 16 differ, in an order drawn from the seed. Equal rows have equal results, so a large problem
// is compared in full at the cost of a small one.
std::vector<float> repeated_rows(std::int64_t rows, std::int64_t width, std::uint64_t seed, std::string_view stream);

// For each row, the first row that equals it.
std::vector<std::int64_t> first_equal_rows(const float* values, std::int64_t rows, std::int64_t width);

// In double. Sixteen partial sums: a single one would wait for each addition.
double dot(const float* a, const float* b, std::int64_t count);

}  // namespace roofwalk
