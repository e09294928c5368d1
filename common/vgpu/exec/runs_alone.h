// Which kernels need all SMs on one thread.
#pragma once

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Whether SMs must run one after another and see each other's accesses at once, because blocks communicate or read
// the clock.
bool runs_alone(const Program& program);

}  // namespace roofwalk::vgpu
