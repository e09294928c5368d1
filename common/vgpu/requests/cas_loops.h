// Counts the compare-and-swaps of each word, for atomics that ptxas implements as loops.
#pragma once

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// For an atomic with is_retried(): counts the swaps of each word, and records them for a traced warp.
void count_swaps(Launch& launch, Warp& warp, const Op* op, const Access& access, bool shared);

}  // namespace roofwalk::vgpu
