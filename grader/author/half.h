// An answer that is correct except for half precision, to prove that an exercise's tolerance refuses half precision.
#pragma once

#include "common/exercise/exercise.h"

namespace roofwalk {

// The output of a kernel that stores its inputs and outputs in half precision and makes no other error.
std::vector<std::vector<float>> half_answer(const Exercise& exercise, const Size& size, const Problem& problem);

}  // namespace roofwalk
