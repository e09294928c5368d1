// Types the commands of a page into a fresh copy of the course and keeps what they print until something changes that
// it may depend on: the program, the toolkit, the kernels, the machines, the commands.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "book/truth/page.h"

namespace roofwalk::book {

struct Place {
  std::filesystem::path root;     // of the project
  std::filesystem::path program;  // roofwalk
  std::filesystem::path cache;    // compiled kernels, measured roofs and outputs; made where it is missing
};

// What a mark stands for: what its command printed, the text of its file, the picture and its gnuplot script.
struct Output {
  std::string text, script;
};
using Outputs = std::map<int, Output>;  // by the mark's line

// `name` is the page's path in the project. Errors, with the line: a command that does not end with 0 or 1, a file or
// picture that is not there.
Result<Outputs> run_page(const Place& place, const std::string& name, const Page& page);

}  // namespace roofwalk::book
