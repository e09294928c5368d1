// How large the elements of arrays at module scope are.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// Returns the bytes of an element of each of the module's variables, in their order. nvcc declares all arrays as bytes:
// `__device__ float part[64]` is `.align 4 .b8 part[256]`. An array has elements of its alignment if a function
// multiplies an index into it by that. Otherwise, as in an array of structs, nothing tells their size: 1.
std::vector<std::uint32_t> element_sizes(const ptx::Module& module);

}  // namespace roofwalk::vgpu
