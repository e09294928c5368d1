// The kernels of a program as a table for a terminal: the longest first, each with what to look at.
#pragma once

#include <string>

#include "grader/programs/program_report.h"
#include "grader/text/text.h"

namespace roofwalk {

// One table if `columns` has room for all columns, otherwise the times first and then the work. A column in which no
// kernel has a figure is left out, as are kernels after the first twenty.
std::string program_table(const ProgramRun& run, std::size_t columns, const Colors& colors);

}  // namespace roofwalk
