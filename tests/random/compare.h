// Runs a program on the virtual GPU and on the reference and reports where they differ.
#pragma once

#include <string>

#include "common/specs/machine.h"
#include "tests/random/generate.h"

namespace roofwalk::random {

struct Verdict {
  enum class What { same, differs, refused, invalid };
  What what = What::same;
  std::string words;  // one line: the first difference, or why it was not compared
  std::uint64_t thread_instructions = 0;
};

// Returns the classroom machine with fewer SMs and smaller caches.
Machine small_machine();

// Runs the program on the reference and, in several ways (one or two host threads, sanitized and so on), on the virtual
// GPU. Results and counts must be the same in all runs.
Verdict compare(const Program& program, const Machine& machine);

// Returns the forms and features that the virtual GPU accepts.
FormChoice accepted(std::vector<Form> forms, const Machine& machine);

// Returns the smallest program with the same difference that it finds within `attempts` runs.
Program minimized(Program program, const Machine& machine, int attempts = 3000);

// Returns the minimized program's text, the difference, and how to run it again.
std::string report(const Program& program, const Machine& machine);

}  // namespace roofwalk::random
