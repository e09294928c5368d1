// Lockstep code: the second version of a program, for warps whose lanes all run together (lockstep.h).
#pragma once

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// `ops` is empty if the function calls others or is too large to analyse.
LockstepCode make_lockstep_code(const Program& program);

}  // namespace roofwalk::vgpu
