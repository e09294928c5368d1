// The driver's errors in plain words: what they mean, who can do something about them, and whether the process can go
// on. The driver's own texts tell neither.
#pragma once

#include <cuda.h>

#include <optional>
#include <span>
#include <string_view>

#include "common/base/result.h"
#include "common/device/cuda/driver_api.h"
#include "common/record/run_record.h"

namespace roofwalk {

struct CudaError {
  CUresult number = CUDA_SUCCESS;
  std::string_view name;           // "CUDA_ERROR_OUT_OF_MEMORY"
  bool is_sticky = false;          // every later call fails too: only a fresh process starts clean
  std::optional<FaultKind> fault;  // a learner's mistake of that kind; nothing: the machine's trouble
  std::string_view cause, advice;
};

// The rows of cuda_errors.def, ascending by number.
std::span<const CudaError> cuda_errors();
const CudaError* find_cuda_error(CUresult code);  // nullptr: none of them

// Whether the process must end. Of an error that nobody has described, yes: a fresh process is always right.
bool is_sticky(CUresult code);

// "cannot WHAT: the cause (CUDA_ERROR_..., 2)", with advice. The driver's own words where it is none of the table.
Error cuda_error(const DriverApi& api, CUresult code, std::string_view what);

}  // namespace roofwalk
