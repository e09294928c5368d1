// What the last warp to arrive at a barrier does while the other warps of its block wait for it.
#pragma once

#include <string>
#include <vector>

#include "common/roofline/diagnosis.h"

namespace roofwalk {

// Describes what the last warp mostly does: "waits for the loads of line 9", "waits for shared memory at line 12",
// "works at line 12". Empty if unknown.
std::string last_warp_words(const std::vector<DiagnosisInput::Waiting::Part>& parts);
// Whether the last warp mostly waits for data from global memory.
bool waits_for_loads(const std::vector<DiagnosisInput::Waiting::Part>& parts);

}  // namespace roofwalk
