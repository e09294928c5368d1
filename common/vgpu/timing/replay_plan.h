// Chooses what the timing model replays: all blocks on all SMs, or a sample of both.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/timing/lone_block.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk::vgpu {

// What is replayed: how many SMs represent all SMs, and which traces represent the blocks that these SMs get.
struct ReplayPlan {
  std::uint64_t sms = 0, grid = 0;           // SMs that have blocks; the grid's blocks without the idle ones
  std::uint64_t running = 0, simulated = 0;  // simulated SMs; simulated blocks
  std::uint64_t of_grid = 0;                 // blocks of the grid that these SMs get
  std::vector<std::uint32_t> chosen;         // traces
  double more_work = 1;                      // cost of the grid's blocks over that of the chosen ones
  double idle_cycles = 0;                    // cycles for which idle blocks hold each slot
};

bool is_replayed_whole(const TimingInput& input, AloneTimes& alone);

ReplayPlan plan_for_whole_grid(const TimingInput& input);
ReplayPlan plan_for_sample(const TimingInput& input, AloneTimes& alone);

}  // namespace roofwalk::vgpu
