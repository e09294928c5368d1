// What the last warp at a barrier does, for whose sake the others of its block wait.
#pragma once

#include <string>
#include <vector>

#include "common/roofline/diagnosis.h"

namespace roofwalk {

// What it mostly does: "waits for the loads of line 9", "waits for shared memory at line 12", "works at line 12". Empty
// where it is not known.
std::string last_warp_words(const std::vector<DiagnosisInput::Waiting::Part>& parts);
// Whether it mostly waited for data from global memory.
bool waits_for_loads(const std::vector<DiagnosisInput::Waiting::Part>& parts);

}  // namespace roofwalk
