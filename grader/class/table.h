// The gradebook for a terminal: one line per student, then lines about entries that an instructor must look at.
#pragma once

#include <string>

#include "grader/class/batch/gradebook.h"
#include "grader/text/text.h"

namespace roofwalk {

std::string table(const Gradebook& book, const Colors& colors, std::size_t columns);

}  // namespace roofwalk
