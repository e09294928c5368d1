// Reads each kernel's resources from ptxas' relocatable cubin (an ELF file). Malformed bytes cause an Error, nothing
// worse.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/build/artifact.h"

namespace roofwalk {

// Returns the resources of every kernel, in the order of the code sections. The figures include the registers, frames
// and shared memory of called functions that were not inlined, as the device linker would compute them. A recursive
// function counts once, and a call through a pointer may reach every function whose address is taken. Errors: not a
// cubin, truncated, or more functions than any chapter needs.
// `source`: the file that an error names if the code exceeds a limit.
Result<std::vector<KernelResources>> read_cubin(std::string_view bytes, const std::string& source = {});

}  // namespace roofwalk
