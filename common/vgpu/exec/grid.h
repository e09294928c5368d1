// Runs all blocks of one launch and leaves exact counts.
//
// Order, fixed so that counts repeat: blocks go to SMs in order as slots free up, at first round-robin over the SMs
// until all slots are full. Then come rounds: each SM gives each of its resident warps, in order, one turn; a turn ends
// at a barrier, at a taken loop back-edge or when the warp ends. Shared state is updated at the end of the round, SM by
// SM: L2 answers, ended blocks make room for the next ones, the budget is charged. So SMs may run side by side, and no
// figure depends on the number of threads.
//
// An SM sees its own stores to global memory at once and those of other SMs from the next round on, whichever ran
// first: even kernels that race give the same results on any number of threads. Where blocks communicate (atomics,
// fences, volatile accesses) or read the clock, SMs run in order on one thread and see each other's stores at once.
//
// Without memory counts (RunLimits::counts), it does not matter which blocks are resident together. Then an SM runs one
// block as far as it goes, then the next, within one round, unless blocks communicate or ask for their SM. The order of
// a block's warps is the same, except where counting would fill a round's log (L2Log::full). So results may differ only
// for a kernel whose blocks race, or whose rounded sums depend on that order.
#pragma once

#include <vector>

#include "common/vgpu/state/launch.h"
#include "common/vgpu/trace/sample.h"

namespace roofwalk::vgpu {

// Work of starting a block, whatever it does (work.h).
std::uint64_t work_of_block(const Program& program, std::uint64_t warps, bool sanitized);

struct GridShape {
  Dim3 grid, block;
  int blocks_per_sm = 0;
};

struct RunLimits {
  std::uint64_t work = 0;  // work.h
  // Wall time, a guard against trouble with the host. A run that exceeds it is refused with an Error that names no
  // file.
  double seconds = 0;
  TraceLimits traces = {};
  std::vector<std::vector<std::uint64_t>> also_traced = {};  // TraceLimits::also, by launch of a plan
  int threads = 1;                                           // at most; no figure depends on it
  bool sanitize = false;      // find races, missing waits and reads of unwritten memory; on one thread
  WatchedBytes watched = {};  // in sanitized runs: device memory whose last writer is sought
  // In sanitized runs: shared memory is watched in about this many blocks per launch, chosen by the seed; 0: in all.
  std::uint64_t sanitized_blocks = 0, sanitized_seed = 0;
  bool lockstep = true;                               // lockstep code (lockstep.h); no figure depends on it
  bool counts = true;                                 // what memory traffic costs; else nobody asks L1, L2 and banks
  double spent_seconds = 0;                           // of `seconds`, before
  std::uint64_t kept_bytes = std::uint64_t{1} << 30;  // of the host, for what the launches of a plan keep until its end
};

// Runs until the grid is done or the launch has a fault or refusal. `sms` come back with their counters; their L1 is
// cold at the start. The work done is taken off `limits.work`. A fault ends the round of its SM, and the fault of the
// first SM is reported. Returns the traces of the sampled blocks; of no use after a fault.
GridTrace run_grid(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, RunLimits& limits);

}  // namespace roofwalk::vgpu
