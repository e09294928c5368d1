// What may be shown of a hidden case: that it went wrong, how, and at which line of the learner's file. No size, seed,
// index, value or printed text, since each would reveal the case.
#pragma once

#include "grader/attempt/trial.h"

namespace roofwalk {

// Removes all else but counters and times; showing those is the caller's responsibility.
void hide(Trial& trial);

}  // namespace roofwalk
