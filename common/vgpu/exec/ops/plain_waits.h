// Loops that wait for another thread's store by loads that the compiler may make once.
#pragma once

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// In sanitized runs, in front of a branch back to a wait by plain loads (find_plain_wait() in
// lowering/analysis/polling.h), whose guard it has: stops the launch if a lane takes the branch, since it then waits
// for what another thread stores. pc: the load.
const Op* op_plain_wait(Launch& launch, Warp& warp, const Op* op);

}  // namespace roofwalk::vgpu
