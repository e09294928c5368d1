// Bounds and alignment of accesses to global and constant memory, where an instruction leaves the buffer that it
// touched last: the buffer that holds the lanes' bytes, or the fault.
#pragma once

#include "common/vgpu/requests/access.h"

namespace roofwalk::vgpu {

// As resolve(), which asks what the instruction touched last before it.
bool resolve_anew(Launch& launch, const Warp& warp, const Op* op, const Access& access, const char* verb,
                  Pointers& out);

}  // namespace roofwalk::vgpu
