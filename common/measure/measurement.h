// From what a device reported and what the problem needs to the figures of one attempt, each with how it was obtained.
// It prints nothing and judges nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/exercise/exercise.h"
#include "common/record/run_record.h"
#include "common/roofline/roofline.h"

namespace roofwalk {

// counted: by the device's counters or clock. modelled: by the virtual GPU's model. formula: follows from the problem
// alone. unsupported: this device cannot tell, and no number stands in for it.
enum class Obtained { counted, modelled, formula, unsupported };

// A number that knows its unit and where it comes from.
struct Quantity {
  double value = 0;            // meaningless where unsupported
  std::string_view unit = {};  // "FLOP", "B", "ns", "FLOP/s", "FLOP/B", "sectors", ...
  Obtained obtained = Obtained::unsupported;

  bool known() const { return obtained != Obtained::unsupported; }
  std::optional<double> get() const { return known() ? std::optional<double>(value) : std::nullopt; }
};

inline constexpr double kSectorBytes = 32;  // what L1 and L2 are counted in

// The traffic of one memory level and what follows from it.
struct LevelMeasurement {
  std::string level;  // "dram", "l2", "l1"
  Quantity bytes;     // "l1": with what constant memory's own caches hand to warps, where that is counted
  Quantity ai;        // useful FLOPs over those bytes
  Quantity roof;      // min(peak, ai x bandwidth of the level), FLOP/s
};

struct Measurement {
  Quantity useful_flops, executed_flops, compulsory_bytes;
  Quantity atomic_flops;  // sums that atomics make, beside those executed
  Quantity dram_read_bytes, dram_write_bytes, l2_bytes, l1_bytes, l1_read_sectors, l1_write_sectors;
  Quantity shared_bytes, shared_wavefronts, warp_instructions;
  Quantity constant_requests, constant_passes, constant_bytes;
  Quantity elapsed_ns, achieved_flops_per_s, algorithmic_ai;
  Quantity vertical_gap, horizontal_gap;  // factors at DRAM
  std::vector<LevelMeasurement> levels;   // dram, l2, l1: always these three, in this order

  // `name` is one of the three.
  const LevelMeasurement& level(std::string_view name) const;

  // The dot on that level's axis; nothing where its bytes or the time are unsupported.
  std::optional<Point> point(std::string_view level_name) const;
};

Measurement measure(const RunRecord& record, const Work& work, const Roofs& roofs);

// What a device's counters leave out, and nobody is to be accused of.
struct Uncounted {
  double dram_bytes = 0;          // at most so many that the plan wrote lie in L2 when the counting ends
  bool has_atomic_flops = false;  // atomics add floats, and are not counted
};

// What makes this measurement impossible, in words for people; empty for a sound one.
std::vector<std::string> implausible(const Measurement& measurement, const Roofs& roofs,
                                     const Uncounted& uncounted = {});

}  // namespace roofwalk
