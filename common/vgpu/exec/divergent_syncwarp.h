// Lanes of a warp that come to a __syncwarp() before other lanes of its mask. It waits until all lanes of the mask that
// have not ended are at a __syncwarp() with the same mask, whichever path they took (PTX ISA, bar.warp.sync, from sm_70
// on). The waiting lanes stay on the reconvergence stack, and a different path of the warp runs. When all have come,
// each path goes on behind its own __syncwarp(), and they reconverge where they would have without it.
//
// Lanes that wait at the end of their path for the others, in front of a barrier of the block, or outside of a function
// that was called, never come. That is a mistake in the kernel in the first two cases; sanitized runs stop there.
#pragma once

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Whether the masks of the executing lanes name lanes that are elsewhere in the program. False if a mask leaves out its
// own lane, which is a mistake of another kind. `masks`: by lane.
inline bool misses_members(const Warp& warp, const std::uint32_t* masks) {
  if (warp.mask == warp.live) return false;
  std::uint32_t named = 0, themselves = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    named |= (warp.mask >> l & 1u) != 0 ? masks[l] : 0u;
    themselves |= masks[l] & 1u << l;
  }
  return (named & warp.live & ~warp.mask) != 0 && (warp.mask & ~themselves) == 0;
}

// Makes the executing lanes wait at a __syncwarp(). Returns where the warp continues, with these lanes or others;
// nullptr if a fault was recorded.
const Op* wait_in_warp(Launch& launch, Warp& warp, const Op* op);

// Whether the lanes that resume_top() chose are at a __syncwarp(). If so, the warp continues at go_on_in_warp().
inline bool are_at_syncwarp(const Warp& warp) {
  for (const MeetingLanes& meeting : warp.meeting) {
    if ((meeting.lanes & warp.mask) != 0) return true;
  }
  return false;
}
const Op* go_on_in_warp(Launch& launch, Warp& warp);

}  // namespace roofwalk::vgpu
