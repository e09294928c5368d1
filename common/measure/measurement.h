// Turns a device's record and the problem's work into the figures of one attempt, each with its origin. It does not
// print or judge.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/exercise/exercise.h"
#include "common/roofline/roofline.h"

namespace roofwalk {

struct RunRecord;

// counted: by the device's counters or clock. modelled: by the virtual GPU's model. formula: follows from the problem
// alone. unsupported: not available on this device, and not replaced by any number.
enum class Obtained { counted, modelled, formula, unsupported };

// A number with its unit and origin.
struct Quantity {
  double value = 0;            // meaningless if unsupported
  std::string_view unit = {};  // "FLOP", "B", "ns", "FLOP/s", "key/B", "sectors", ...
  Obtained obtained = Obtained::unsupported;

  bool known() const { return obtained != Obtained::unsupported; }
  std::optional<double> get() const { return known() ? std::optional<double>(value) : std::nullopt; }
};

inline constexpr double kSectorBytes = 32;  // the unit in which L1 and L2 traffic is counted

// The traffic of one memory level and figures derived from it.
struct LevelMeasurement {
  std::string level;  // "dram", "l2", "l1"
  Quantity bytes;     // "l1": including the bytes from the constant caches, if counted
  Quantity ai;        // useful FLOPs per byte
  Quantity roof;      // min(peak, ai x bandwidth of the level), FLOP/s
};

// useful_flops, achieved_flops_per_s, roofs and AIs are in the roofs' unit (Roofs::unit), whatever their names say.
struct Measurement {
  Quantity useful_flops, executed_flops, compulsory_bytes;
  double least_flops = 0;              // Work::least_flops
  Quantity half_flops;                 // the part of executed_flops in half precision (FP16 and BF16), without tensors
  Quantity atomic_flops;               // float additions by atomics, which executed_flops does not include
  Quantity tensor_integer_operations;  // of tensor cores on 8-bit integers, which executed_flops does not include
  Quantity dram_read_bytes, dram_write_bytes, l2_bytes, l1_bytes, l1_read_sectors, l1_write_sectors;
  // Sectors that global accesses would need if the lanes of each request were contiguous (ideal_sectors.h), over those
  // they move; 1 if there are none. If uncoalesced loads and atomics ask for more than three quarters of the compulsory
  // bytes, no more than the same of these alone.
  Quantity sector_use;
  Quantity shared_bytes, shared_wavefronts, warp_instructions;
  // Ratios. Wavefronts of shared memory over the fewest that its accesses need, without bank conflicts; unsupported
  // without accesses.
  Quantity shared_wavefronts_over_least;
  // Instructions of threads over 32 times those of warps; lanes that are predicated off do not count. Of PTX, or where
  // only hardware counts, of machine code.
  Quantity active_lanes;
  // Executed FLOPs, with additions by atomics where these are counted, over useful ones; in a chapter of operations on
  // integers, these instead.
  Quantity executed_over_useful;
  Quantity atomics_per_element;  // lanes of global atomics over the useful work: for each FLOP, operation or key
  // Cycles of SMs with a resident warp over all cycles of SMs, and resident warps of a scheduler in the former cycles.
  Quantity sm_active, resident_warps_per_scheduler;
  Quantity constant_requests, constant_passes, constant_bytes;
  Quantity elapsed_ns, achieved_flops_per_s, peak_flops_per_s, algorithmic_ai;
  Quantity vertical_gap, horizontal_gap;  // factors at DRAM
  std::vector<LevelMeasurement> levels;   // dram, l2, l1: always these three, in this order

  // `name` is one of the three.
  const LevelMeasurement& level(std::string_view name) const;

  // Returns the dot on that level's axis; nullopt if its bytes or the time are unsupported.
  std::optional<Point> point(std::string_view level_name) const;
};

Measurement measure(const RunRecord& record, const Work& work, const Roofs& roofs);

// What a device's counters leave out. A measurement must not count as implausible because of this.
struct Uncounted {
  double dram_bytes = 0;          // upper bound of the plan's written bytes still in L2 when counting ends
  bool has_atomic_flops = false;  // atomics add floats but are not counted
};

// Returns reasons, in plain words, why this measurement is impossible; empty if it is plausible.
std::vector<std::string> implausible(const Measurement& measurement, const Roofs& roofs,
                                     const Uncounted& uncounted = {});

}  // namespace roofwalk
