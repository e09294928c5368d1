// From counters by source line to the sentence that tells the learner where to look.
#pragma once

#include "common/specs/machine.h"
#include "grader/attempt/attempt.h"

namespace roofwalk {

Finding inspect(const RunRecord& record, const Measurement& measurement, const Machine& machine, const Roofs& roofs,
                const std::string& source_text);

// Of a wrong answer: there is no dot, but it may show in how few bits it was computed.
Finding inspect_wrong(const Correctness& correctness, int suspect_line);

// Of an attempt that met every goal: its chapter asks for no more, so what limits the dot now is no disease to be cured
// here. Spills stay: they are nobody's lesson, and the virtual GPU's dot does not show all of them.
void settle(Finding& finding);

// What the last warp at a barrier was about, of `cycles` that warps stood there.
std::vector<DiagnosisInput::Waiting::Part> last_warp_of(const std::vector<HeldUpBy>& held_up, double cycles);

// What follows "wait for": "a barrier". Not of Wait::issued, which is none.
std::string_view wait_words(Wait wait);

// Line `line` (from 1) of a text, spaces at both ends taken off; empty where there is none.
std::string source_line(const std::string& text, int line);

}  // namespace roofwalk
