// What happens when some lanes of a warp reach a block barrier before its other lanes do. CUDA's barriers wait for all
// threads that have not ended, whichever path they took (CUDA C++ Programming Guide, "Independent Thread Scheduling").
// So the early lanes stand in front of the basic block with the barrier while the warp runs its other lanes. When these
// have ended or arrived at the same place, all lanes enter the block together. ptxas reconverges them there, too.
//
// If a branch leads around the barrier, the warp continues at the branch's reconvergence point without the standing
// lanes, as ptxas does not reconverge behind a barrier. Such a branch is a mistake in the kernel ("__syncthreads() is
// allowed in conditional code but only if the conditional evaluates identically across the entire thread block"), so
// sanitized runs stop at that point. Two cases are tolerated: a barrier in a loop that some lanes leave early, and
// lanes whose path leads straight to the exit, because nvcc generates the same code for `if (i >= n) { c[i] = 0;
// return; }` in front of a barrier.
//
// Lanes that stand in front of different barriers are a mistake, too, unless these are barriers without .aligned, as
// nvcc makes them for block.sync() of cooperative groups: "For conditionally executed code, barrier{.cta}.sync and
// barrier{.cta}.red may only be used with .aligned if it is known that all threads evaluate the condition identically"
// (PTX ISA, barrier). Then each group enters its own block and waits at its barrier (divergent_syncwarp.h); when all
// live lanes do, the warp arrives once.
#pragma once

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Entry operation of a basic block with a `bar.sync`. All live lanes of the warp enter it together.
const Op* op_enter_block_with_barrier(Launch& launch, Warp& warp, const Op* op);

// Makes the executing lanes stand in front of the block whose entry operation is `entry`. False if their calls cannot
// be split: recursive calls, and calls of several functions through one pointer.
bool stand_aside(Warp& warp, const Op* entry);
// Called when all live lanes stand. If they stand at the same place, they execute together from now on; returns the
// entry operation of the block there. Otherwise returns nullptr.
const Op* bring_together(Warp& warp);
// Whether not all lanes that stand do so at the same place.
bool stand_apart(const Warp& warp);
// Whether the groups that stand may each go to its barrier, because these and `barrier` are without .aligned, and they
// are one barrier, or may be if their numbers are in registers.
bool may_come_apart(const Warp& warp, const Op* barrier);
// Lets each group that stands enter its block, one after the other. The lanes of the last one execute.
void let_in_apart(Launch& launch, Warp& warp);
// Called when the warp continues at a reconvergence point: from now on it does not wait there for standing lanes.
// Returns some of the lanes that it leaves behind if that is a mistake in the kernel; otherwise, and in runs that are
// not sanitized, nullptr.
const StandingLanes* who_is_missed(Launch& launch, Warp& warp);

// Reports a barrier that only `lanes` have reached (or stand in front of), not the warp's other lanes.
const Op* stop_at_barrier(Launch& launch, const Warp& warp, const Op* op, std::uint32_t lanes);

// Returns the barrier operation of the block whose entry operation is `entry`.
const Op* barrier_behind(const Op* entry);

// Returns the live lanes that are not executing and whose path leads straight to the exit.
std::uint32_t leaving_lanes(const Program& program, const Warp& warp);

}  // namespace roofwalk::vgpu
