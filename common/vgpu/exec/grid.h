// Runs all blocks of one launch and counts exactly.
//
// The order is fixed so that counts repeat. Blocks go to SMs in grid order: at first round-robin until all slots are
// full, then as slots become free. Execution proceeds in rounds. In each round, every SM gives each of its resident
// warps one turn, in order; a turn ends when the warp must wait for others (at a barrier, say), sleeps, takes a loop
// back-edge or ends. State that SMs share is updated at the end of the round, SM by SM: L2 answers requests, new blocks
// replace those that ended, and the budget is charged. So SMs may run in parallel, and no figure depends on the number
// of threads.
//
// An SM sees its own stores to global memory at once and those of other SMs from the next round on, in whichever
// order the host runs the SMs. So even kernels that race give the same results on any number of threads. If blocks
// communicate (atomics, fences, volatile accesses) or read the clock, SMs run in order on one thread and see each
// other's stores at once.
//
// Without memory counts (RunLimits::counts), it does not matter which blocks are resident together. Then an SM runs
// one block as far as possible, then the next, within one round, unless blocks communicate or read %smid. The order
// of a block's warps is the same as with counts, except when counting would fill a round's log (L2Log::full). So
// results may differ only for a kernel whose blocks race, or whose rounded sums depend on that order.
//
// In sanitized runs without memory counts, some blocks get no turn while others get ahead (sanitizer/held_blocks.h).
#pragma once

#include <vector>

#include "common/vgpu/state/launch.h"
#include "common/vgpu/trace/sample.h"

namespace roofwalk::vgpu {

// Work (work.h) of starting a block, whatever the block does.
std::uint64_t work_of_block(const Program& program, std::uint64_t warps, bool sanitized);

struct GridShape {
  Dim3 grid, block;
  int blocks_per_sm = 0;
};

struct RunLimits {
  std::uint64_t work = 0;  // work.h
  // Limit of wall time, in case the host is overloaded. A run that exceeds it is refused with an Error that names no
  // file, because the kernel is not at fault.
  double seconds = 0;
  TraceLimits traces = {};
  std::vector<std::vector<std::uint64_t>> also_traced = {};  // TraceLimits::also, by launch of a plan
  int threads = 1;                                           // upper limit; no figure depends on it
  bool sanitize = false;      // find races, missing waits and reads of unwritten memory; on one thread
  WatchedBytes watched = {};  // in sanitized runs: device memory whose last writer is to be found
  // In sanitized runs: shared memory is watched in about this many blocks per launch, chosen by the seed (0: in all
  // blocks). In those without `counts`, warps of watched blocks miss turns, and blocks are held back, chosen by the
  // seed, too (0: none).
  std::uint64_t sanitized_blocks = 0, sanitized_seed = 0;
  bool lockstep = true;  // lockstep code (lockstep.h); no figure depends on it
  // Count memory traffic; if false, L1, L2 and banks are not modelled.
  bool counts = true;
  double spent_seconds = 0;  // the part of `seconds` that is already used
  // Limit of host memory that a plan's launches keep until its end.
  std::uint64_t kept_bytes = std::uint64_t{1} << 30;
};

// Runs until the grid is done or the launch has a fault or refusal. `sms` receive their counters; their L1 is cold at
// the start. Deducts the work done from `limits.work`. If several SMs have a fault in one round, that of the first one
// is reported. Returns the traces of the sampled blocks, which are meaningless after a fault.
GridTrace run_grid(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, RunLimits& limits);

}  // namespace roofwalk::vgpu
