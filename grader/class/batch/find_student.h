// Finds a student by typed text: by the whole name, else by the platform's number, else by a part of the name. The
// match must be unique.
#pragma once

#include <string>

#include "common/base/result.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// Points into `book`. Errors: no student matches, or several do; the message lists similar names.
Result<const StudentRow*> find_student(const Gradebook& book, const std::string& typed);

}  // namespace roofwalk
