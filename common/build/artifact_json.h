// Converts an Artifact to JSON and back, to send it to another process.
#pragma once

#include <string>
#include <string_view>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/build/artifact.h"

namespace roofwalk {

// The learner's texts may contain any bytes, so they are not part of the JSON: path, name, source and PTX are
// appended to `texts`, and the JSON contains their lengths.
Json packed_json(const Artifact& artifact, std::string& texts);

// Errors, in one line: a member that is missing, unknown, of the wrong type or too large; lengths that do not match
// `texts`.
Result<Artifact> artifact_from_json(const Json& json, std::string_view texts);

}  // namespace roofwalk
