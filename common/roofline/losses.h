// Where the time went that the algorithm does not need, by cause. Each part of it is put down to one cause only.
#pragma once

#include <string_view>
#include <vector>

#include "common/roofline/diagnosis.h"

namespace roofwalk {

struct Loss {
  std::string_view cause;
  double ns = 0;
  bool is_bytes = false;  // most of it is bytes at DRAM that need not move: the dot is too far left, not too low
};

// Most first; small ones too. Without modelled parts all of what is lost is put down to the first cause that fits.
std::vector<Loss> losses(const DiagnosisInput& input);

// elapsed_ns over what the roof at the algorithm's AI allows; 1 where gaps are not known.
double total_gap(const DiagnosisInput& input);

// Sectors asked of L1 over those that the same bytes need side by side; 1 where unknown.
double sector_ratio(const DiagnosisInput& input);

// How often each sector that reaches DRAM was stored to before, scattered stores counted as if they lay side by side.
// 0 where nothing is stored.
double times_stored(const DiagnosisInput& input);

// How many times the whole work is done: FLOPs come again and so do the stores of their results; 1 where once.
double repeats_of_work(const DiagnosisInput& input);

// Share of the warps' cycles spent on one wait.
double wait_share(const DiagnosisInput& input, std::string_view id);

}  // namespace roofwalk
