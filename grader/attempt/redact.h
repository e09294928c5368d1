// The facts about a hidden case that may be shown: that it went wrong, how, and at which line of the learner's file.
// Never a size, seed, index, value or printed text, because each would reveal the case.
#pragma once

#include "grader/attempt/trial.h"

namespace roofwalk {

// Removes everything else except counters and times; whether to show these is the caller's responsibility.
void hide(Trial& trial);

}  // namespace roofwalk
