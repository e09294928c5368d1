// Extracts the kernels from a learner's PTX, for the machine code that runs on a GPU. Leaves out SOLVE, because the PTX
// interpreter of the virtual GPU executes it.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/build/artifact.h"

namespace roofwalk {

// Returns the PTX without the entry `solve`, the externs that only a plan may call (__cudaCDP2..., roofwalk_scratch)
// and the functions that call them. Line breaks of the cut text remain, so that ptxas's line numbers stay valid for the
// artifact. Errors: a kernel, or a table in memory, needs one of the externs.
Result<std::string> cut_plan(const Artifact& artifact);

}  // namespace roofwalk
