// A correct answer in half precision, to prove that an exercise's tolerance refuses it.
#pragma once

#include "common/exercise/exercise.h"

namespace roofwalk {

// The output of a kernel that stores its inputs and outputs in half precision and makes no other error.
std::vector<std::vector<float>> half_answer(const Exercise& exercise, const Size& size, const Problem& problem);

}  // namespace roofwalk
