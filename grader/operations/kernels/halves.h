// Code that several exercises of half-precision operations use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/exercise/exercise.h"

namespace roofwalk {

// An expected output in halves: before the rounding to a half, each value may be wrong by its entry of `errors`.
Expected expected_halves(std::string name, std::vector<double> values, const std::vector<double>& errors,
                         std::int64_t row_length);

// Rows of which at most 16 are different, in an order determined by the seed. Equal rows have equal results, so a
// large problem can be checked completely at the cost of a small one.
std::vector<float> repeated_rows(std::int64_t rows, std::int64_t width, std::uint64_t seed, std::string_view stream);

// For each row, the first row that equals it.
std::vector<std::int64_t> first_equal_rows(const float* values, std::int64_t rows, std::int64_t width);

// The dot product in double. It has sixteen partial sums, because with a single one each addition would wait for the
// one before.
double dot(const float* a, const float* b, std::int64_t count);

}  // namespace roofwalk
