// The facts about a hidden case that may be shown: that it went wrong, how, and at which line of the learner's file.
// Never a size, seed, index, value or printed text, because each would reveal the case.
#pragma once

#include "grader/attempt/trial.h"

namespace roofwalk {

// Removes from the trial what must not be shown, but leaves counters and times, which the caller must handle.
void hide(Trial& trial);

}  // namespace roofwalk
