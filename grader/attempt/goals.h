// What a chapter asks for on one machine.
#pragma once

#include <string>
#include <vector>

#include "common/exercise/chapter.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct MachineGoals {
  std::vector<Goal> asked;            // in the chapter's order
  std::vector<std::string> left_out;  // of each other goal, one sentence that says why
};

// A goal about the AI at DRAM is left out where the compulsory bytes are less than four times the L2: it keeps enough
// of them that DRAM hardly sees what a kernel reads twice, and every kernel has about the same AI there.
MachineGoals goals_on(const Machine& machine, const Chapter& chapter, const Work& work);

}  // namespace roofwalk
