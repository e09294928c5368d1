// Lanes of a warp that wait at an operation for other lanes of the warp. They stay on the reconvergence stack, and a
// different path of the warp runs. When those they wait for have come, or ended, each path goes on behind its own
// operation, and they reconverge where they would have without it.
//
// A __syncwarp() waits until all lanes of its mask that have not ended are at a __syncwarp() with the same mask,
// whichever path they took (PTX ISA, bar.warp.sync, from sm_70 on).
//
// A shuffle, vote, match or reduction waits for all lanes of its mask that have not ended, too (PTX ISA, shfl.sync).
// Here these must come along the same path, so it waits only for others to end.
//
// A barrier of the block without .aligned may have lanes of one warp at different places (PTX ISA, barrier). They wait
// here until all have come to one; then the warp arrives (divergent_barrier.h).
//
// Lanes that have come to the end of their path, where the warp would reconverge, go on without those that wait at a
// __syncwarp() if one lies on their way: it may be the one for which these wait. From then on they run apart, and must
// not end without it.
//
// Lanes that wait at the end of their path otherwise, in front of a barrier of the block, or outside of a function that
// was called, never come. That is a mistake in the kernel in the first two cases; sanitized runs stop there.
#pragma once

#include <bit>

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

// Which of `others` the masks of these lanes name.
inline std::uint32_t named_of(const Warp& warp, std::uint32_t lanes, Slot masks, std::uint32_t others) {
  const std::uint32_t* of = warp.lanes<std::uint32_t>(masks);
  std::uint32_t named = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) named |= of[std::countr_zero(left)];
  return named & others;
}

// Makes the executing lanes wait at an operation: MeetingLanes has the members' masks and the operation's name. Returns
// where the warp continues, with these lanes or others; nullptr if a fault was recorded.
const Op* wait_in_warp(Launch& launch, Warp& warp, const Op* op, MeetingLanes::Kind kind, Slot masks, const char* what);

// Whether the lanes that resume_top() chose wait at an operation. If so, the warp continues at go_on_in_warp().
inline bool are_waiting(const Warp& warp) {
  for (const MeetingLanes& meeting : warp.meeting) {
    if ((meeting.lanes & warp.mask) != 0) return true;
  }
  return false;
}
const Op* go_on_in_warp(Launch& launch, Warp& warp);

}  // namespace roofwalk::vgpu
