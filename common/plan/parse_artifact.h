// Parses the PTX of an artifact into a module.
#pragma once

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/ptx/module.h"

namespace roofwalk {

// Errors are reported as the learner's, even if the PTX gives no line: inline assembly can put anything into it.
Result<ptx::Module> parse_artifact(const Artifact& artifact);

}  // namespace roofwalk
