// Parses exercise.toml into the manifest part of a Chapter. Every error has the file and the line.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/exercise/chapter.h"

namespace roofwalk {

// Fills all members except `number` and `folder`. `file` is the name for errors. Unknown keys are errors, so that a
// misspelt key is noticed.
Result<Chapter> parse_manifest(const std::string& text, const std::filesystem::path& file);

}  // namespace roofwalk
