// Runs all blocks of one launch and leaves exact counts.
//
// Order, fixed so that counts repeat: blocks go to SMs in order as slots free up, first round-robin over the SMs until
// all slots are full. Then rounds: each SM in order gives each of its resident warps, in order, one turn; a turn ends
// at a barrier, at a taken loop back-edge or with the warp. A block that ends frees its slot for the next block at
// once.
#pragma once

#include <vector>

#include "common/vgpu/launch.h"
#include "common/vgpu/sample.h"

namespace roofwalk::vgpu {

struct GridShape {
  Dim3 grid, block;
  int blocks_per_sm = 0;
};

struct RunLimits {
  std::uint64_t warp_instructions = 0;
  double seconds = 0;
  TraceLimits traces = {};
  bool clock = false;  // times by the clock instead of by bounds (timing.h)
};

// Runs until the grid is done or the launch has a fault or refusal. `sms` come back with their counters; their L1 is
// cold at the start. Instructions that ran are taken off `limits.warp_instructions`. Returns the traces of the blocks
// that were sampled; of no use after a fault.
GridTrace run_grid(Launch& launch, const GridShape& shape, std::vector<Multiprocessor>& sms, RunLimits& limits);

}  // namespace roofwalk::vgpu
