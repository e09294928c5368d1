// Finds kernels that multiply matrices on tensor cores in the code, for devices that have no counter for it.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/build/artifact.h"

namespace roofwalk {

struct KernelRecord;

// Whether one of the launched kernels may execute a matrix product (mma, wmma.mma), of floats or of integers. Errors:
// those of parse_artifact().
Result<bool> multiply_matrices(const Artifact& artifact, const std::vector<KernelRecord>& launched);

}  // namespace roofwalk
