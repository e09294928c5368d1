// Declares Json for headers that only name it. The definition, common/base/json.h, costs every file that includes it a
// second or two of compiling.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace roofwalk {

// JSON with keys in the order in which they were written, so that records read well and compare byte for byte.
using Json = nlohmann::ordered_json;

}  // namespace roofwalk
