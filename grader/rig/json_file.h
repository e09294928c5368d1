// Results that are stored between calls of the program, one JSON file each.
#pragma once

#include <filesystem>

#include "common/base/json_fwd.h"

namespace roofwalk {

// The contents of the file; a discarded value if it cannot be read.
Json read_json_file(const std::filesystem::path& file);

// Replaces the file atomically, even while other processes read or write it, and creates its folders. Failures are
// ignored.
void write_json_file(const Json& json, const std::filesystem::path& file);

}  // namespace roofwalk
