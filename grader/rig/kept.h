// Results that are kept between calls of the program, one JSON file each.
#pragma once

#include <filesystem>

#include "common/base/json_fwd.h"

namespace roofwalk {

// What the file holds; a discarded value where it cannot be read.
Json kept_json(const std::filesystem::path& file);

// Whole or not at all, whoever else writes or reads the file now; folders included. What cannot be kept is no error.
void keep_json(const Json& json, const std::filesystem::path& file);

}  // namespace roofwalk
