// Formats that need only the gradebook. Each is one file of formats/, which defines `NAME_exporter`; CMake makes the
// table of exporters from the names of the files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grader/class/batch/gradebook.h"

namespace roofwalk {

struct Exporter {
  std::string_view format;  // `roofwalk export FORMAT`
  std::string_view file;    // name of the file next to the grades, which is written after each grading; empty: only
                            // on request
  std::string (*text)(const Gradebook& book);
};

// All exporters, by format.
std::span<const Exporter* const> exporters();

// Returns the exporter for a format; nullptr if there is none.
const Exporter* find_exporter(std::string_view format);

}  // namespace roofwalk
