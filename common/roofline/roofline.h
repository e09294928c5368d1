// The roofline model: arithmetic on FLOP/s, bytes/s and FLOP/byte. Independent of devices, files and chapters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/roofline/work_unit.h"

namespace roofwalk {

// A sloped roof: a memory level's bandwidth.
struct MemoryRoof {
  std::string level;  // "dram", "l2", "l1", "shared"
  double bytes_per_s = 0;
  std::string source;                                 // "data sheet", "measured"
  std::optional<double> data_sheet_bytes_per_s = {};  // if the roof is not from the data sheet
};

// A flat roof: a compute peak.
struct ComputeRoof {
  std::string name;  // "fp32", "half", "tensor"
  double flops_per_s = 0;
  std::string source;
  std::optional<double> data_sheet_flops_per_s = {};  // if the roof is not from the data sheet
};

struct Roofs {
  std::vector<MemoryRoof> memory;    // in order of bandwidth by the data sheet, slowest first
  std::vector<ComputeRoof> compute;  // the one that applies is first
  bool is_memory_only = false;       // no compute roof applies; otherwise, one that is missing is unknown
  WorkUnit unit = WorkUnit::flop;    // of the dots below these roofs; wherever names say FLOP, this is meant

  const MemoryRoof* memory_roof(std::string_view level) const;  // nullptr if there is none

  // Returns the flat roof in FLOP/s: infinity if memory roofs alone apply, nullopt if it is unknown.
  std::optional<double> peak() const;

  bool is_of_tensor_cores() const;  // whether the compute roof that applies is that of tensor cores
};

// Returns min(peak, ai x bandwidth), in FLOP/s. ai in FLOP/byte, > 0.
double attainable_flops_per_s(double ai, double bytes_per_s, double peak_flops_per_s);

// Returns the AI where the two roofs meet, in FLOP/byte.
double ridge_flops_per_byte(double bytes_per_s, double peak_flops_per_s);

// One measured kernel in the roofline plot of one memory level.
struct Point {
  double ai = 0;           // useful FLOPs per byte at the level
  double flops_per_s = 0;  // useful FLOPs per second
};

// Returns roof(ai) / achieved: the possible speed-up with the same bytes. >= 1 for a sound measurement.
double vertical_gap(const Point& point, double bytes_per_s, double peak_flops_per_s);

// Returns algorithmic AI / observed AI: how many times the compulsory bytes are moved. >= 1 for a sound measurement.
double horizontal_gap(double observed_ai, double algorithmic_ai);

// How a dot moved: its new coordinates over its old ones; 1 is no movement.
struct Movement {
  double right = 1, up = 1;
};
Movement movement(const Point& from, const Point& to);

// Reasons, in plain words, why the point is impossible: it lies above the roof, moves fewer bytes than compulsory or
// executes fewer FLOPs than useful, or, where algebra saves some of these, fewer than the least. Empty if it is
// possible. The constants are tolerances for sound measurements: clocks and counters are imprecise, and on a real chip,
// dirty output up to the size of L2 may stay cached after the run.
inline constexpr double kMostOfRoof = 1.02, kLeastOfCompulsoryBytes = 0.9, kLeastOfUsefulFlops = 0.99;
// `least_flops`: of the algorithm (Work), 0 if they are the useful ones.
constexpr bool skips_flops(double executed_flops, double useful_flops, double least_flops) {
  // Written as !(good) so that NaN counts as too few.
  return !(executed_flops >= kLeastOfUsefulFlops * (least_flops > 0 ? least_flops : useful_flops));
}
// Returns "25.2 MFLOP", and the least if algebra saves some: ", or by algebra no fewer than 12.6 MFLOP".
std::string needed_flops_text(double useful_flops, double least_flops);
struct SanityInput {
  Point point;
  double bytes = 0, compulsory_bytes = 0;
  double executed_flops = 0, useful_flops = 0, least_flops = 0;
  double half_flops = 0;  // in half precision, which executed_flops does not include
  double bytes_per_s = 0, peak_flops_per_s = 0;
  WorkUnit unit = WorkUnit::flop;  // of `point`; executed and useful FLOPs are compared only if it is FLOPs
};
std::vector<std::string> implausible(const SanityInput& input);

}  // namespace roofwalk
