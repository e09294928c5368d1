// Follows values that nobody has written (state/unset_values.h) from the loads that find them to where they are used.
// They may be copied to other registers and lanes, to local, shared and global memory and into the parameters of calls,
// and computed with; what is computed from them is such a value, too, as far as it depends on them. An address, a
// branch, a guard, an atomic, and a result that is left in the kernel's output, use them: that is a fault of the load.
//
// While a warp holds such values, it runs operation by operation, slowly. It hardly ever does.
#pragma once

#include "common/vgpu/state/launch.h"
#include "common/vgpu/state/unset_values.h"

namespace roofwalk::vgpu {

// Runs a warp that holds such values from `op` on, to the end of its turn or until it holds none. Returns the operation
// where it goes on; nullptr: its turn has ended.
const Op* follow_unset(Launch& launch, Warp& warp, const Op* op);
// The handler of UnsetValues::detour.
const Op* op_follow_unset(Launch& launch, Warp& warp, const Op* op);

}  // namespace roofwalk::vgpu
