// Hides a hidden case. Three facts about it may be shown: that it went wrong, how, and at which line of the learner's
// file. A size, seed, index, value or printed text is never shown, because each would reveal the case.
#pragma once

#include "grader/attempt/trial.h"

namespace roofwalk {

// Removes from the trial what must not be shown. Leaves counters and times; the caller decides what to show of them.
void hide(Trial& trial);

}  // namespace roofwalk
