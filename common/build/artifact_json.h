// Converts an Artifact to JSON and back, to send it to another process.
#pragma once

#include <string>
#include <string_view>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "common/build/artifact.h"

namespace roofwalk {

// Appends path, name, source and PTX to `texts`, and writes only their lengths into the JSON, because the learner's
// texts may contain any bytes.
Json packed_json(const Artifact& artifact, std::string& texts);

// Reads the output of packed_json. Errors, in one line: a member that is missing, unknown, of the wrong type or too
// large; lengths that do not match `texts`.
Result<Artifact> artifact_from_json(const Json& json, std::string_view texts);

}  // namespace roofwalk
