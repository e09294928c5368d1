// Grids whose blocks do other work in one stretch of the grid than in another. Such stretches never run at the same
// time, so one cannot use what the other leaves idle, although a sample of the whole grid mixes their blocks.
#pragma once

#include "common/vgpu/timing/lone_block.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk::vgpu {

// Returns the least time, in cycles, of stretches that run one after the other: each takes as long as its busiest unit.
// Stretches are longer than a wave, so this neglects only how the end of each overlaps the next. 0 if all are alike.
double cycles_of_stretches(const TimingInput& input, const AloneTimes& alone);

}  // namespace roofwalk::vgpu
