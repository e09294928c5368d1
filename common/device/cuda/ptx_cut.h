// The part of a learner's PTX that a GPU runs: without the plan, which our own machine steps through.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/build/artifact.h"

namespace roofwalk {

// The PTX without the entry `solve`, the externs that only a plan may call (__cudaCDP2..., roofwalk_scratch) and the
// functions that call them. Cut text leaves its line ends, so every other byte stands in the line where it stood, and
// what ptxas says of a line is true of the artifact. Errors: a kernel, or a table in memory, needs one of the externs.
Result<std::string> cut_plan(const Artifact& artifact);

}  // namespace roofwalk
