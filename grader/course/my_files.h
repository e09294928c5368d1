// The learner's files: made from the starter, put back to it, and never lost.
#pragma once

#include <optional>

#include "grader/course/course.h"

namespace roofwalk {

// Makes my/NAME.cu from the starter where there is none; true when it did. Never writes over a file.
Result<bool> provide_file(const Course& course, const Chapter& chapter);

// my/old/NAME-<n>.cu with the first n that is free: what reset_file() keeps the learner's file as.
std::filesystem::path kept_name(const Course& course, const Chapter& chapter);

// Puts the starter in the place of my/NAME.cu. The place where the old file is kept; nothing where there was none.
Result<std::optional<std::filesystem::path>> reset_file(const Course& course, const Chapter& chapter);

}  // namespace roofwalk
