// Runs the commands of a page in a fresh copy of the course. Caches their output until anything changes that may affect
// it: the program, the toolkit, the kernels, the machines, the commands.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "book/truth/page.h"

namespace roofwalk::book {

struct Place {
  std::filesystem::path root;     // of the project
  std::filesystem::path program;  // roofwalk
  std::filesystem::path cache;    // compiled kernels, measured roofs and outputs; created if missing
};

// The result of a mark. `text`: its command's output, its file's text, or its picture. `script`: the picture's gnuplot
// script.
struct Output {
  std::string text, script;
};
using Outputs = std::map<int, Output>;  // by the mark's line

// Returns the results of a page's marks. `name` is the page's path in the project. Errors, with the line: a command
// that exits with neither 0 nor 1, a missing file or picture.
Result<Outputs> run_page(const Place& place, const std::string& name, const Page& page);

}  // namespace roofwalk::book
