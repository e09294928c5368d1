// Loads that are not coherent (ld.global.nc): what they read must be read-only as long as the kernel runs (PTX ISA,
// ld), or they may find what was there before.
#pragma once

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// In sanitized runs: false, with a fault recorded, if such a load reads what its launch has already stored. What is
// stored later, as by a kernel that works in place, is left alone.
bool check_unstored(Launch& launch, const Warp& warp, const Op* op, const Access& access);

}  // namespace roofwalk::vgpu
