// An honest answer in half precision, to prove that a tolerance refuses it.
#pragma once

#include "common/exercise/exercise.h"

namespace roofwalk {

// What a kernel that keeps its inputs and outputs in half precision, and makes no other error, would leave behind.
std::vector<std::vector<float>> half_answer(const Exercise& exercise, const Size& size, const Problem& problem);

}  // namespace roofwalk
