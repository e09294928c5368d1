// Attributes the time that the algorithm does not need to causes, each part of it to one cause only.
#pragma once

#include <string_view>
#include <vector>

#include "common/roofline/diagnosis.h"

namespace roofwalk {

struct Loss {
  std::string_view cause;
  double ns = 0;
  bool is_bytes = false;  // mostly unnecessary bytes at DRAM: the dot is too far left, not too low
};

// Largest first, including small ones. Without modelled parts, all lost time is attributed to the first cause that
// fits.
std::vector<Loss> losses(const DiagnosisInput& input);

// elapsed_ns over what the roof at the algorithm's AI allows; 1 if gaps are unknown.
double total_gap(const DiagnosisInput& input);

// Sectors requested from L1 over those that contiguous bytes would need; 1 if unknown.
double sector_ratio(const DiagnosisInput& input);

// Average number of stores to each sector that reaches DRAM, counting scattered stores as contiguous; 0 if nothing is
// stored.
double times_stored(const DiagnosisInput& input);

// How many times the whole work is done: FLOPs and stores of results repeat; 1 if once.
double repeats_of_work(const DiagnosisInput& input);

// Share of the warps' cycles spent on one kind of wait.
double wait_share(const DiagnosisInput& input, std::string_view id);

}  // namespace roofwalk
