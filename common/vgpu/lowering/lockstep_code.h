// The second code of a program, for warps whose lanes all run together (lockstep.h).
#pragma once

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// None, with empty `ops`, where a function calls others or is too large to be looked at.
LockstepCode make_lockstep_code(const Program& program);

}  // namespace roofwalk::vgpu
