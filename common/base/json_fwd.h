// Declares Json for headers that only name it. Including the definition, common/base/json.h, costs a second or two of
// compile time per file.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace roofwalk {

// JSON whose keys keep their insertion order, so that records read well and compare byte for byte.
using Json = nlohmann::ordered_json;

}  // namespace roofwalk
