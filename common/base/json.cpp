#include "common/base/json.h"

namespace roofwalk {

Json parse_json(std::string_view text) { return Json::parse(text, nullptr, /*allow_exceptions=*/false); }

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string json_line_ascii(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string valid_utf8(std::string_view text) {
  // The serializer replaces invalid bytes. It also escapes some characters, so its output is parsed again.
  return parse_json(json_line(Json(text))).get<std::string>();
}

}  // namespace roofwalk
