// Turns counters per source line into sentences that tell the learner where to look.
#pragma once

#include "common/specs/machine.h"
#include "grader/attempt/attempt.h"

namespace roofwalk {

Finding inspect(const RunRecord& record, const Measurement& measurement, const Machine& machine, const Roofs& roofs,
                const std::string& source_text);

// For a wrong answer. There is no dot, but the errors may show that it was computed in half precision.
Finding inspect_wrong(const Correctness& correctness, int suspect_line);

// For an attempt that met every goal. The chapter requires no more, so the diagnosis of the dot's present limit is
// removed. Spills stay: no chapter teaches them, and the virtual GPU's dot does not show all of their cost.
void settle(Finding& finding);

// What the last warp at a barrier did or waited for, as shares of `cycles`, the cycles for which other warps waited
// there.
std::vector<DiagnosisInput::Waiting::Part> last_warp_of(const std::vector<HeldUpBy>& held_up, double cycles);

// Completes "wait for ...": "a barrier". Not for Wait::issued, which is not a wait.
std::string_view wait_words(Wait wait);

// Line `line` (from 1) of a text, without blanks at both ends; empty if there is none.
std::string source_line(const std::string& text, int line);

}  // namespace roofwalk
