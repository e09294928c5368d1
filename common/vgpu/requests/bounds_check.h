// Checks bounds and alignment in global and constant memory for accesses outside the buffer that the instruction
// accessed last: finds the buffer that contains the lanes' bytes, or records the fault.
#pragma once

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// Like resolve(), but does not try the instruction's last buffer first.
bool resolve_anew(Launch& launch, const Warp& warp, const Op* op, const Access& access, const char* verb,
                  Pointers& out);

}  // namespace roofwalk::vgpu
