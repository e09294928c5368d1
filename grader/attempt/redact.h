// Hides a hidden case. Two facts about it may be shown: that it went wrong, and how; and, if its size is public, at
// which line of the learner's file. A size, seed, index, value or printed text is never shown, because each would
// reveal the case, and neither is a line if the size is hidden, because a file may have one line for each size.
#pragma once

#include "grader/attempt/trial.h"

namespace roofwalk {

enum class Hidden { seed, size };

// Removes from the trial what must not be shown. `what`: the case's size, or its seed alone. Leaves counters and times;
// the caller decides what to show of them.
void hide(Trial& trial, Hidden what);

// What a hidden case of an uneven size (measured_size.h) is called: it says how to run one like it.
std::string hidden_case_below(const Size& measured, const std::string& chapter);

}  // namespace roofwalk
