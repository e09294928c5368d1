// JSON with keys in the order in which they were written, so that records read well and compare byte for byte.
#pragma once

#include <nlohmann/json.hpp>

namespace roofwalk {

using Json = nlohmann::ordered_json;

}  // namespace roofwalk
