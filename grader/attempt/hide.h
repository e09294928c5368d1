// What a hidden case may tell: that it went wrong, how, and at which line of the learner's file. No size, seed, index,
// value or printed text, since each of them would tell the case.
#pragma once

#include "grader/attempt/trial.h"

namespace roofwalk {

// Empties the trial of all else. Its counters and times stay; whoever shows them answers for that.
void hide(Trial& trial);

}  // namespace roofwalk
