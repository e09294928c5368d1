// The student that somebody typed: by the whole name, by the platform's number, or by a part of the name that nobody
// else has.
#pragma once

#include <string>

#include "common/base/result.h"
#include "grader/batch/gradebook.h"

namespace roofwalk {

// Points into `book`. Errors: nobody fits, or several do, with the names that come near.
Result<const StudentRow*> find_student(const Gradebook& book, const std::string& typed);

}  // namespace roofwalk
