// JSON whose keys keep their insertion order. Parsing and writing are compiled once, in json.cpp. Call these
// functions instead of Json::parse and Json::dump, which would be instantiated again in every file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/base/json_fwd.h"

namespace roofwalk {

// Returns a discarded value (`is_discarded()`) if `text` is not JSON.
Json parse_json(std::string_view text);

// The following functions never fail: bytes that are not UTF-8 become U+FFFD.
std::string json_line(const Json& json);        // one line, without a newline
std::string json_line_ascii(const Json& json);  // the same, with non-ASCII characters escaped
std::string json_text(const Json& json);        // indented by two
std::string valid_utf8(std::string_view text);

}  // namespace roofwalk
