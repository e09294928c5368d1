// Runs a program on the machine and on the reference, and says where they differ.
#pragma once

#include <string>

#include "common/specs/machine.h"
#include "tests/random/generate.h"

namespace roofwalk::random {

struct Verdict {
  enum class What { same, differs, refused, invalid };
  What what = What::same;
  std::string words;  // one line where the two first differ, or why not
  std::uint64_t thread_instructions = 0;
};

// The machine's own, but for a few SMs and small caches.
Machine small_machine();

// On one thread of the host and on two, and under the sanitizer: results and counts must be the same.
Verdict compare(const Program& program, const Machine& machine);

// Only those forms, and those features, that the machine takes.
FormChoice accepted(std::vector<Form> forms, const Machine& machine);

// The same difference with as few statements as can be found by `attempts` runs.
Program minimized(Program program, const Machine& machine, int attempts = 3000);

// The shrunk program's text, what differs, and how to run it again.
std::string report(const Program& program, const Machine& machine);

}  // namespace roofwalk::random
