// Published measurements of GPUs, each with the kernel and the arguments that repeat it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk::test {

// An argument of SOLVE.
struct PointArgument {
  enum class Kind { zeros, ones, chain, number };
  Kind kind = Kind::number;
  // zeros, ones: bytes of a buffer of zeros or of floats 1. number: an int. chain: nodes of a buffer of pointers, each
  // `pitch` bytes behind the one before, linked in one pseudo-random cycle.
  std::int64_t value = 0;
  std::int64_t pitch = 0;

  bool operator==(const PointArgument&) const = default;
};

// One row of a points file.
struct Point {
  std::string source;                // publication and file, or the machine's record
  std::string chip;                  // the machine file that models it: "h200"
  std::string mechanism;             // "l1-strides"
  std::string what;                  // the kernel's parameters in words: "float, stride 33"
  std::string kernel;                // file in kernels/, without .cu
  std::vector<std::string> defines;  // "KIND=3"
  std::vector<PointArgument> arguments;
  // The time that counts: of launch `launch`, less that of launch `less`, if there is one. -1: of the whole plan.
  int launch = -1, less = -1;
  double amount = 0;  // what was done in that time: bytes, FLOPs, loads, launches
  std::string unit;   // "GB/s", "GFLOP/s": amount over time; "cycles", "us", "ns": time over amount
  std::optional<double> published;
  std::string where;  // "points/fitted/gpu_benches.csv:17", for messages
};

// Reads a points file: a header line, then one line a point, fields separated by commas. Errors name file and line.
Result<std::vector<Point>> read_points(const std::filesystem::path& file);

// Converts a time to the point's unit.
double value_of(const Point& point, double elapsed_ns, double clock_hz);

// A point and its value on the virtual GPU.
struct PointError {
  Point point;
  double value = 0;
  double ratio() const { return value / *point.published; }
  double error() const;  // relative to the published value
};

// Writes the values, one line a point: chip, mechanism, what, unit, published, here.
std::string figures_of(const std::vector<PointError>& errors);
// Reads them back. Errors: a point without a line, a line without a point, another published value.
Result<std::vector<PointError>> read_figures(const std::filesystem::path& file, const std::vector<Point>& points);

// The points of one of `parts` parts. Points that need the same runs are in the same part.
std::vector<Point> part_of(const std::vector<Point>& points, std::uint64_t part, std::uint64_t parts);

// All points files of a folder, sorted by name.
std::vector<std::filesystem::path> points_files(const std::filesystem::path& folder);

// Writes a table in Markdown: by mechanism, the chips, the number of points, their mean error and the worst of them;
// and below it the mean, the median, the rank correlation of each unit's points, and the points beyond a factor of two.
std::string table_of(const std::vector<PointError>& errors);

// Writes tables by chip and of the `most` points that are farthest off, as factors.
std::string chips_and_farthest_of(const std::vector<PointError>& errors, std::size_t most);

}  // namespace roofwalk::test
