// Reads what ptxas gave each kernel out of a relocatable cubin (an ELF file). Hostile bytes give an Error, no more.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/build/artifact.h"

namespace roofwalk {

// The resources of every kernel, in the order of the code sections. A kernel that calls functions which were not
// inlined needs their registers, frames and shared memory too, as the device linker would give it; recursion counts
// once, and a call through a pointer may reach every function whose address is taken. Errors: not a cubin, truncated,
// or more functions than any course needs.
Result<std::vector<KernelResources>> read_cubin(std::string_view bytes);

}  // namespace roofwalk
