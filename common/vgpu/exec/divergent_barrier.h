// Lanes of a warp that wait at a barrier of the block before its other lanes reach it. CUDA's barriers wait for all
// threads that have not ended, whichever path they took (CUDA C++ Programming Guide, "Independent Thread Scheduling").
// So these lanes stand in front of the basic block with the barrier while the warp runs its other lanes; when those
// have ended or arrived at the same place, all enter the block together. ptxas reconverges them there, too.
//
// At a reconvergence point behind a branch around the barrier, the warp goes on without the standing lanes, as ptxas
// does not reconverge behind a barrier. This is a mistake in the kernel ("__syncthreads() is allowed in conditional
// code but only if the conditional evaluates identically across the entire thread block"), and sanitized runs stop
// there. They do not stop behind a loop that some lanes leave early, nor where the path leads straight to the exit, as
// nvcc generates the same code for `if (i >= n) { c[i] = 0; return; }` in front of a barrier.
#pragma once

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Entry operation of a basic block with a `bar.sync`. All live lanes of the warp enter it together.
const Op* op_enter_block_with_barrier(Launch& launch, Warp& warp, const Op* op);

// Makes the executing lanes stand in front of a block, whose entry operation is `entry`. False where their calls cannot
// be split: recursive calls, and calls of several functions through one pointer.
bool stand_aside(Warp& warp, const Op* entry);
// All live lanes stand: they execute together from now on, if they stand at the same place. Returns the entry operation
// of the block; nullptr where they do not.
const Op* bring_together(Warp& warp);
// Standing lanes that should have reconverged where the warp goes on now; nullptr where going on without them is no
// mistake, or the run is not sanitized. They are no longer expected at this place.
const StandingLanes* who_is_missed(Launch& launch, Warp& warp);

// The barrier that lanes stand in front of.
const Op* barrier_behind(const Op* entry);

// Live lanes that are not executing and whose path leads straight to the exit.
std::uint32_t leaving_lanes(const Program& program, const Warp& warp);

}  // namespace roofwalk::vgpu
