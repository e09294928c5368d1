// The learner's files: created from the starter, and reset to it without losing the old file.
#pragma once

#include <optional>

#include "grader/course/course.h"

namespace roofwalk {

// If there is no my/NAME.cu, copies the starter to it and returns true; otherwise returns false. Never overwrites a
// file.
Result<bool> provide_file(const Course& course, const Chapter& chapter);

// The name that reset_file() gives to the learner's old file: my/old/NAME-<n>.cu with the first free n.
std::filesystem::path kept_name(const Course& course, const Chapter& chapter);

// Replaces my/NAME.cu by the starter. Returns the new path of the old file; nullopt if there was none.
Result<std::optional<std::filesystem::path>> reset_file(const Course& course, const Chapter& chapter);

}  // namespace roofwalk
