// Results that are kept between calls of the program, one JSON file each.
#pragma once

#include <filesystem>

#include "common/base/json_fwd.h"

namespace roofwalk {

// The content of the file; a discarded value if it cannot be read.
Json read_json_file(const std::filesystem::path& file);

// Replaces the file atomically, even while others read or write it, and creates its folders. Failure is ignored.
void write_json_file(const Json& json, const std::filesystem::path& file);

}  // namespace roofwalk
