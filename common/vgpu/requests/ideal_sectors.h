// How few sectors a request could do with.
#pragma once

#include <cstdint>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// Returns the fewest sectors that a request could touch if its lanes' bytes were adjacent. What several lanes ask for
// counts once, but at least a word counts for each lane: lanes that share a word are neighbours, too, as in a block of
// 8 x 8 threads.
// `access`: after coalesce().
std::uint64_t ideal_sectors(const Access& access);

}  // namespace roofwalk::vgpu
