// Lanes of a warp that came to a barrier of the block before its other lanes did. CUDA's barriers wait for the threads
// that have not ended, whichever way they went (CUDA C++ Programming Guide, "Independent Thread Scheduling"), so they
// stand in front of the basic block with the barrier, the warp goes on with its other lanes, and as these end or come
// to the same place, all enter the block as one. ptxas has them meet there, too.
//
// Where the warp was to meet again, behind a branch around the barrier, it goes on without those who stand: ptxas asks
// for no meeting behind a barrier. That is a mistake ("__syncthreads() is allowed in conditional code but only if the
// conditional evaluates identically across the entire thread block"), at which sanitized runs stop. But not where the
// way leads straight to the end, for nvcc makes the same code of `if (i >= n) { c[i] = 0; return; }` in front of a
// barrier; and not behind a loop that some lanes leave early.
#pragma once

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// The operation that a basic block begins with, of those that have a barrier of the block, for all lanes that come.
const Op* op_enter_block_with_barrier(Launch& launch, Warp& warp, const Op* op);

// The lanes that execute stand in front of a block, whose first operation this is. False where the calls that they are
// in cannot be taken apart: recursive ones, and of several functions through one pointer.
bool stand_aside(Warp& warp, const Op* entry);
// All lanes that live stand: they execute as one from now on, if they have come to the same place. The first operation
// of the block; nullptr where they have not.
const Op* bring_together(Warp& warp);
// Of lanes that stand, those with whom the warp was to meet where it goes on now; nullptr where nothing is wrong with
// going on without them, or nobody asks, as only sanitized runs do. They are not expected again at the same place.
const StandingLanes* who_is_missed(Launch& launch, Warp& warp);

// The barrier that lanes stand in front of.
const Op* barrier_behind(const Op* entry);

// Lanes that live and do not execute, and whose way leads straight to the end.
std::uint32_t leaving_lanes(const Program& program, const Warp& warp);

}  // namespace roofwalk::vgpu
