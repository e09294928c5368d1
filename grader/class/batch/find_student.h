// The student that somebody typed: by the whole name, else by the platform's number, else by a part of the name; each
// only where nobody else has it.
#pragma once

#include <string>

#include "common/base/result.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// Points into `book`. Errors: nobody fits, or several do, with the names that come near.
Result<const StudentRow*> find_student(const Gradebook& book, const std::string& typed);

}  // namespace roofwalk
