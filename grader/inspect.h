// From counters by source line to the sentence that tells the learner where to look.
#pragma once

#include "common/specs/machine.h"
#include "grader/attempt.h"

namespace roofwalk {

Finding inspect(const RunRecord& record, const Measurement& measurement, const Machine& machine, const Roofs& roofs,
                const std::string& source_text);

// Line `line` (from 1) of a text, spaces at both ends taken off; empty where there is none.
std::string source_line(const std::string& text, int line);

}  // namespace roofwalk
