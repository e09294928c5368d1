// What a learner reads after `run`: the attempt in fewer than 25 lines of 80 columns.
#pragma once

#include <string>

#include "grader/text.h"
#include "grader/walk.h"

namespace roofwalk {

std::string report(const Attempt& attempt, const WalkNews& news, const Colors& colors);

}  // namespace roofwalk
