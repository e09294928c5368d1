// Parses the PTX of an artifact into a module.
#pragma once

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/ptx/module.h"

namespace roofwalk {

// Parses the PTX. Errors count as the learner's even if the PTX gives no line, because inline assembly can put any text
// into the PTX.
Result<ptx::Module> parse_artifact(const Artifact& artifact);

}  // namespace roofwalk
