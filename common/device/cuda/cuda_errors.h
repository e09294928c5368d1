// The driver's errors in plain words: their meaning, who can fix them, and whether the process can continue. The
// driver's own texts do not tell the latter two.
#pragma once

#include <cuda.h>

#include <optional>
#include <span>
#include <string_view>

#include "common/base/result.h"
#include "common/device/cuda/driver/driver_api.h"
#include "common/record/fault.h"

namespace roofwalk {

struct CudaError {
  CUresult number = CUDA_SUCCESS;
  std::string_view name;           // "CUDA_ERROR_OUT_OF_MEMORY"
  bool is_sticky = false;          // every later call fails too, until the process is restarted
  std::optional<FaultKind> fault;  // the kind of a learner's mistake; nullopt: trouble of the machine
  std::string_view cause, advice;
};

// Returns the rows of cuda_errors.def, by ascending number.
std::span<const CudaError> cuda_errors();
const CudaError* find_cuda_error(CUresult code);  // nullptr: not in the table

// Whether the process must end. True for unknown errors, because a fresh process is always safe.
bool is_sticky(CUresult code);

// Returns the Error "cannot WHAT: the cause (CUDA_ERROR_..., 2)", with advice; the cause is the driver's own text for
// errors that are not in the table.
Error cuda_error(const DriverApi& api, CUresult code, std::string_view what);

}  // namespace roofwalk
