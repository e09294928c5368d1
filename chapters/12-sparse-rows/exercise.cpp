// y = a x, where a is a sparse matrix with n rows and n columns: two FLOPs and eight bytes per element that is stored.
#include "common/exercise/exercise.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/rng.h"

namespace roofwalk {
namespace {

// A row has 30 elements on average, or fewer if the matrix is tiny, and none is longer than kLongest.
constexpr std::int64_t kMean = 30, kLongest = 4096;
constexpr auto kMostElements = static_cast<std::int64_t>(kWholeLimit) - 1;  // where a row begins is a whole number

// Elements of a row come in runs of neighbouring columns, so that neighbouring elements touch neighbouring words of x.
// They lie near the diagonal, so that the words of x that an SM needs at a time are as many on a small machine as on a
// large one.
constexpr std::int64_t kRun = 4, kBand = 16384;

std::int64_t elements_of(std::int64_t n) {
  return n * std::max<std::int64_t>(1, std::min({kMean, (n + 1) / 2, kMostElements / n}));
}

std::int64_t below(Rng& rng, std::int64_t limit) {
  return static_cast<std::int64_t>(rng.next() % static_cast<std::uint64_t>(limit));
}

// Weights of rows by a power law: of those in one octave, 7 in 16 go on to the next. Whole numbers, as powers of
// fractions differ between machines in their last bit. One row in 32 is empty, and so is a stretch of rows.
std::vector<std::int64_t> weights_of_rows(std::int64_t n, std::uint64_t seed) {
  constexpr std::int64_t kOctaves = 9, kOne = 1024, kOneEmptyIn = 32;
  Rng rng(seed, "lengths");
  const std::int64_t stretch = n / 32, stretch_begin = below(rng, n), kept = below(rng, n);
  std::vector<std::int64_t> weights;
  for (std::int64_t row = 0; row < n; ++row) {
    std::int64_t octave = 0;
    while (octave + 1 < kOctaves && below(rng, 16) < 7) ++octave;
    const std::int64_t weight = (kOne + below(rng, kOne)) << octave;
    const bool is_empty = below(rng, kOneEmptyIn) == 0 || (row + n - stretch_begin) % n < stretch;
    weights.push_back(is_empty && row != kept ? 0 : weight);
  }
  return weights;
}

// Returns the lengths of n rows, which have `count` elements together: in proportion to their weights, and what
// rounding leaves goes to rows at random. An empty row gets some only if all others are as long as they may be.
std::vector<std::int64_t> lengths_of_rows(std::int64_t n, std::int64_t count, std::uint64_t seed) {
  const std::int64_t longest = std::min(n, kLongest);
  std::vector<std::int64_t> lengths = weights_of_rows(n, seed);
  std::int64_t sum = 0, left = count;
  for (const std::int64_t weight : lengths) sum += weight;
  for (std::int64_t& length : lengths) left -= length = std::min(longest, length * count / sum);
  Rng rng(seed, "what rounding leaves");
  const auto row_after = [&](std::int64_t start, std::int64_t least) {  // with room for one more; n: there is none
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t length = lengths[static_cast<std::size_t>((start + i) % n)];
      if (length >= least && length < longest) return (start + i) % n;
    }
    return n;
  };
  for (; left > 0; --left) {
    const std::int64_t start = below(rng, n), row = row_after(start, 1);
    ++lengths[static_cast<std::size_t>(row < n ? row : row_after(start, 0))];
  }
  return lengths;
}

// Appends `length` different columns for a row, in order: runs at random places within kBand columns around the
// diagonal. Runs may touch, and the last may be shorter. At small sizes, the first may be, too, so that nobody can tell
// from where a run begins which columns follow.
void add_row(std::vector<float>& columns, std::int64_t row, std::int64_t length, std::int64_t n, Rng& rng,
             std::vector<std::int64_t>& places) {
  const std::int64_t band = std::min(kBand, n), left = std::clamp<std::int64_t>(row - band / 2, 0, n - band);
  const std::int64_t missing = n < kBand ? below(rng, kRun) : 0;  // of the first run
  places.clear();
  for (std::int64_t end = -missing; end < length; end += kRun) places.push_back(left + below(rng, band - length + 1));
  std::sort(places.begin(), places.end());
  for (std::int64_t i = 0; i < length; ++i) {
    columns.push_back(static_cast<float>(places[static_cast<std::size_t>((i + missing) / kRun)] + i));
  }
}

// An odd number of at most `most`, or its negative; `least` and `most` are odd.
std::int64_t odd(std::int64_t least, std::int64_t most, Rng& rng) {
  const std::int64_t size = least + 2 * below(rng, (most - least) / 2 + 1);
  return below(rng, 2) == 0 ? size : -size;
}

// Values of the matrix are whole multiples of 2^-12, those of x of 2^-3. Of two that are multiplied, one is an odd
// number of 12 bits, which no half holds, and the other is an odd number of at most 15. So the sum of a row is exact in
// float in any order: it is a random walk of at most kLongest steps of 29,000 on average, which stays far below 2^24.
// Whoever leaves an element out or adds one twice does not get it.
constexpr float kValueUnit = 0x1p-12f, kXUnit = 0x1p-3f;
constexpr double kUnit = 0x1p-15;
constexpr std::int64_t kOneLargeXIn = 8;

std::int64_t large(Rng& rng) { return odd(2049, 4095, rng); }
std::int64_t small(Rng& rng) { return odd(1, 15, rng); }

struct Matrix {
  std::vector<float> row_starts, columns, values, x;
};

Matrix matrix_and_x(std::int64_t n, std::uint64_t seed) {
  const std::int64_t count = elements_of(n);
  Matrix a;
  Rng rng_of_x(seed, "x"), rng_of_columns(seed, "columns"), rng_of_values(seed, "values");
  std::vector<bool> is_large;
  for (std::int64_t column = 0; column < n; ++column) {
    is_large.push_back(below(rng_of_x, kOneLargeXIn) == 0);
    a.x.push_back(kXUnit * static_cast<float>(is_large.back() ? large(rng_of_x) : small(rng_of_x)));
  }
  a.columns.reserve(static_cast<std::size_t>(count));
  a.row_starts.push_back(0);
  std::vector<std::int64_t> places;
  const std::vector<std::int64_t> lengths = lengths_of_rows(n, count, seed);
  for (std::int64_t row = 0; row < n; ++row) {
    add_row(a.columns, row, lengths[static_cast<std::size_t>(row)], n, rng_of_columns, places);
    a.row_starts.push_back(static_cast<float>(a.columns.size()));
  }
  a.values.reserve(a.columns.size());
  for (const float column : a.columns) {
    const bool x_is_large = is_large[static_cast<std::size_t>(column)];
    a.values.push_back(kValueUnit * static_cast<float>(x_is_large ? small(rng_of_values) : large(rng_of_values)));
  }
  return a;
}

// SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros).
// Extent "n", at least 1 and below kWholeLimit.
class SparseRows final : public Exercise {
 public:
  // A product and an addition for each element, the first to zero included; who begins with the first product saves one
  // addition a row.
  Work work(const Size& size) const override {
    const std::int64_t n = size["n"], count = elements_of(n);
    return {
        .useful_flops = 2 * count, .compulsory_bytes = 4 * (2 * count + (n + 1) + 2 * n), .least_flops = 2 * count - n};
  }

  Problem problem(const Size& size, std::uint64_t seed) const override {
    const std::int64_t n = size["n"];
    Matrix a = matrix_and_x(n, seed);
    return {.parameters = {InputBuffer{"row_starts", std::move(a.row_starts), Element::i32},
                           InputBuffer{"columns", std::move(a.columns), Element::i32},
                           InputBuffer{"values", std::move(a.values)}, InputBuffer{"x", std::move(a.x)},
                           OutputBuffer{"y", n}, Scalar{"n", static_cast<std::int32_t>(n)},
                           Scalar{"nonzeros", static_cast<std::int32_t>(elements_of(n))}}};
  }

  std::vector<Expected> reference(const Size& size, const Problem& problem) const override {
    const auto n = static_cast<std::size_t>(size["n"]);
    const std::vector<float>&row_starts = problem.input("row_starts"), &columns = problem.input("columns"),
          &values = problem.input("values"), &x = problem.input("x");
    Expected y{.name = "y", .values = {}, .tolerances = std::vector<double>(n, kUnit / 2)};
    for (std::size_t row = 0; row < n; ++row) {
      double sum = 0;
      for (auto i = static_cast<std::size_t>(row_starts[row]); i < static_cast<std::size_t>(row_starts[row + 1]); ++i) {
        sum += static_cast<double>(values[i]) * static_cast<double>(x[static_cast<std::size_t>(columns[i])]);
      }
      y.values.push_back(sum);
    }
    return {std::move(y)};
  }
};

ROOFWALK_EXERCISE("sparse-rows", SparseRows);

}  // namespace
}  // namespace roofwalk
