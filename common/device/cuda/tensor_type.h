// Finds the tensor type of a module, because one pass of CUPTI counts the FLOPs of one type only.
#pragma once

#include <optional>

#include "common/device/cuda/cupti/metrics.h"
#include "common/ptx/module.h"

namespace roofwalk {

// Returns the one type of all floating-point mma and wmma.mma in the module, executed or not. nullopt if there is none
// or several, or if an instruction's input and output sums differ in type.
std::optional<TensorType> tensor_type_of(const ptx::Module& module);

}  // namespace roofwalk
