// exercise.toml as text becomes the manifest part of a Chapter. Every error names the file and the line.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/exercise/chapter.h"

namespace roofwalk {

// Fills everything but `number` and `folder`. `file` is what errors call the text. Unknown keys are errors: a goal
// whose key is misspelt must not vanish.
Result<Chapter> parse_manifest(const std::string& text, const std::filesystem::path& file);

}  // namespace roofwalk
