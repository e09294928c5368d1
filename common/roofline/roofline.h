// The roofline model: pure arithmetic on FLOP/s, bytes/s and FLOP/byte. It knows no device, no file and no chapter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofwalk {

// A slanted roof: a memory level's bandwidth.
struct MemoryRoof {
  std::string level;  // "dram", "l2", "l1", "shared"
  double bytes_per_s = 0;
  std::string source;                                 // "data sheet", "measured"
  std::optional<double> data_sheet_bytes_per_s = {};  // where the roof is not the data sheet's own
};

// A flat roof: a compute peak.
struct ComputeRoof {
  std::string name;  // "fp32"
  double flops_per_s = 0;
  std::string source;
  std::optional<double> data_sheet_flops_per_s = {};  // where the roof is not the data sheet's own
};

struct Roofs {
  std::vector<MemoryRoof> memory;    // slowest first, by the data sheet
  std::vector<ComputeRoof> compute;  // the one that applies first

  const MemoryRoof* memory_roof(std::string_view level) const;  // nullptr where there is none
};

// min(peak, ai x bandwidth), in FLOP/s. ai in FLOP/byte, > 0.
double attainable_flops_per_s(double ai, double bytes_per_s, double peak_flops_per_s);

// Where the two roofs meet, in FLOP/byte.
double ridge_flops_per_byte(double bytes_per_s, double peak_flops_per_s);

// One measured kernel on one level's axis.
struct Point {
  double ai = 0;           // useful FLOPs over bytes at the level
  double flops_per_s = 0;  // useful FLOPs over time
};

// roof(ai) / achieved: how many times faster the same bytes allow. >= 1 for a sound measurement.
double vertical_gap(const Point& point, double bytes_per_s, double peak_flops_per_s);

// algorithmic AI / observed AI: how many times too many bytes. >= 1 for a sound measurement.
double horizontal_gap(double observed_ai, double algorithmic_ai);

// How a dot moved: both ratios to the earlier point; 1 is no movement.
struct Movement {
  double right = 1, up = 1;
};
Movement movement(const Point& from, const Point& to);

// Is the point possible? Empty when it is; else the reason, for people: above the roof, fewer bytes than compulsory,
// less arithmetic than useful. How far a sound measurement may stray: clocks and counters are not perfect, and on a
// real chip up to an L2 of dirty output may stay cached after the run.
inline constexpr double kMostOfRoof = 1.02, kLeastOfCompulsoryBytes = 0.9, kLeastOfUsefulFlops = 0.99;
struct SanityInput {
  Point point;
  double bytes = 0, compulsory_bytes = 0;
  double executed_flops = 0, useful_flops = 0;
  double bytes_per_s = 0, peak_flops_per_s = 0;
};
std::vector<std::string> implausible(const SanityInput& input);

}  // namespace roofwalk
