// Turns counters per source line into sentences that tell the learner where to look.
#pragma once

#include "common/specs/machine.h"
#include "grader/attempt/attempt.h"

namespace roofwalk {

Finding inspect(const RunRecord& record, const Measurement& measurement, const Machine& machine, const Roofs& roofs,
                const std::string& source_text);

// Diagnoses a wrong answer. It has no dot, but its errors may show that it was computed in half precision.
Finding inspect_wrong(const Correctness& correctness, int suspect_line);

// For an attempt that met every goal: removes the diagnosis of what limits the dot now, because the chapter asks for no
// more. Keeps spills, which no chapter teaches and whose cost the virtual GPU's dot does not fully show.
void settle(Finding& finding);

// What the last warp to arrive at a barrier did or waited for meanwhile, as shares of `cycles`, the cycles for which
// the other warps waited there.
std::vector<DiagnosisInput::Waiting::Part> last_warp_of(const std::vector<HeldUpBy>& held_up, double cycles);

// Completes "wait for ...": "a barrier". Not for Wait::issued, which is not a wait.
std::string_view wait_words(Wait wait);

// Line `line` (from 1) of a text, without blanks at both ends; empty if there is none.
std::string source_line(const std::string& text, int line);

}  // namespace roofwalk
