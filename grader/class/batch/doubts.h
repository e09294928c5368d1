// Questions about the rows of a gradebook that only a person can answer.
#pragma once

#include <vector>

#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// The rows whose name is spelt like that of a row before them, and those that share a participant's number.
// `rows`: by student.
std::vector<RowDoubt> doubts_about(const std::vector<StudentRow>& rows);

// The name without the platform's number, which follows it in parentheses.
std::string without_number(const std::string& student);

}  // namespace roofwalk
