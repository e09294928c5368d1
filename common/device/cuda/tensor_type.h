// What a module multiplies on tensor cores: a pass of CUPTI's counts the FLOPs of one type of them.
#pragma once

#include <optional>

#include "common/device/cuda/metrics.h"
#include "common/ptx/module.h"

namespace roofwalk {

// The one type of the module's mma and wmma.mma of floats, whether they run or not. Nothing where it has none or
// several, or where sums go in with one type and come out with another.
std::optional<TensorType> tensor_type_of(const ptx::Module& module);

}  // namespace roofwalk
