// Checks of bounds and alignment for global and constant memory where an instruction leaves the buffer that it touched
// last: finds the buffer that holds the lanes' bytes, or the fault.
#pragma once

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// As resolve(), which tries the instruction's last buffer first.
bool resolve_anew(Launch& launch, const Warp& warp, const Op* op, const Access& access, const char* verb,
                  Pointers& out);

}  // namespace roofwalk::vgpu
