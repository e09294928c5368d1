// The PTX of an artifact as a module.
#pragma once

#include "common/base/result.h"
#include "common/build/artifact.h"
#include "common/ptx/module.h"

namespace roofwalk {

// Errors are about the learner's file, whether or not the PTX tells the line: inline assembly can make it anything.
Result<ptx::Module> parse_artifact(const Artifact& artifact);

}  // namespace roofwalk
