// Runs all blocks of one launch and leaves exact counts.
//
// Order, fixed so that counts repeat: blocks go to SMs in order as slots free up, first round-robin over the SMs until
// all slots are full. Then rounds: each SM gives each of its resident warps, in order, one turn; a turn ends at a
// barrier, at a taken loop back-edge or with the warp. What SMs share follows at the end of the round, in the order of
// the SMs: L2 answers, blocks that ended make room for the next ones, the budget is charged. So SMs may run side by
// side, and no figure depends on the number of threads.
//
// An SM sees its own stores to global memory at once and those of others from the next round on, whichever ran first:
// kernels that race give the same results, too, on any number of threads. Where blocks talk to each other (atomics,
// fences, volatile accesses) or read the clock, SMs run in order on one thread and see each other's stores at once.
//
// Where memory is not counted (RunLimits::counts), which blocks are there at the same time is no matter: but for
// kernels whose blocks talk to each other, or that ask which SM they are on, an SM plays one of its blocks as far as it
// goes, then the next, within one round. The order of a block's warps is the same, but where counting would fill a
// round's log (L2Log::full). So only a kernel whose blocks race, or whose sums of that order round, may compute
// something else.
#pragma once

#include <vector>

#include "common/vgpu/state/launch.h"
#include "common/vgpu/trace/sample.h"

namespace roofwalk::vgpu {

// What starting a block takes, whatever it does. work.h
std::uint64_t work_of_block(const Program& program, std::uint64_t warps, bool sanitized);

struct GridShape {
  Dim3 grid, block;
  int blocks_per_sm = 0;
};

struct RunLimits {
  std::uint64_t work = 0;  // work.h
  // Of wall time: a guard against trouble with the host. A run that is past it is refused by an Error without a file.
  double seconds = 0;
  TraceLimits traces = {};
  std::vector<std::vector<std::uint64_t>> also_traced = {};  // TraceLimits::also, by launch of a plan
  int threads = 1;                                           // at most; no figure depends on it
  bool sanitize = false;      // look for races, missing waits, reads of what was never written; on one thread
  WatchedBytes watched = {};  // where sanitized: of device memory
  // Where sanitized: shared memory is watched in about so many blocks of each launch, by the seed; 0: in all of them.
  std::uint64_t sanitized_blocks = 0, sanitized_seed = 0;
  bool lockstep = true;      // lockstep code (lockstep.h); no figure depends on it
  bool counts = true;        // what memory traffic costs; else nobody asks L1, L2 and banks
  double spent_seconds = 0;  // of `seconds`, before
};

// Runs until the grid is done or the launch has a fault or refusal. `sms` come back with their counters; their L1 is
// cold at the start. Work that was done is taken off `limits.work`; a fault ends the round of its SM, and the
// one of the first SM counts. Returns the traces of the blocks that were sampled; of no use after a fault.
GridTrace run_grid(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, RunLimits& limits);

}  // namespace roofwalk::vgpu
