// Formats that need nothing but the gradebook. Each is one file of formats/, which defines `NAME_exporter`; CMake makes
// the table of them from the names of the files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grader/class/batch/gradebook.h"

namespace roofwalk {

struct Exporter {
  std::string_view format;  // `roofwalk export FORMAT`
  std::string_view file;    // its name beside the grades, written after each grading; empty: only on request
  std::string (*text)(const Gradebook& book);
};

// All of them, by format.
std::span<const Exporter* const> exporters();

// nullptr if there is no such format.
const Exporter* find_exporter(std::string_view format);

}  // namespace roofwalk
