// Atomics that are a loop around a compare-and-swap: the swaps of each word.
#pragma once

#include "common/vgpu/requests/access.h"

namespace roofwalk::vgpu {

// Of an atomic that is_retried(): counts the swaps of each word, and notes them for a traced warp.
void count_swaps(Launch& launch, Warp& warp, const Op* op, const Access& access, bool shared);

}  // namespace roofwalk::vgpu
