// Finds a student by typed text, which may be the whole name, the platform's number or a part of the name; they are
// tried in this order. The match must be unique.
#pragma once

#include <string>

#include "common/base/result.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// Points into `book`. Errors: no student matches, or several do; the message lists similar names.
Result<const StudentRow*> find_student(const Gradebook& book, const std::string& typed);

}  // namespace roofwalk
