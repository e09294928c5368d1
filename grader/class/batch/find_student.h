// Finds the student that somebody typed: by the whole name, else by the platform's number, else by a part of the name.
// Each must be unique.
#pragma once

#include <string>

#include "common/base/result.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// Points into `book`. Errors: no student fits, or several do, with similar names.
Result<const StudentRow*> find_student(const Gradebook& book, const std::string& typed);

}  // namespace roofwalk
