// The CUDA driver as a table of function pointers: filled from libcuda.so.1 at run time, so that one program starts on
// machines with and without a driver, or by a test with a driver of its own (tests/support/fake_driver.h).
#pragma once

#include <cuda.h>

#include "common/base/result.h"

namespace roofwalk {

static_assert(CUDA_VERSION >= 13000, "the headers of CUDA 13 or later are needed");

// Every call that is used. cuda.h renames some (cuMemAlloc is cuMemAlloc_v2): the members of DriverApi follow it, and
// the names that the driver is asked for stay the plain ones. A call that cuda.h renames to more than a version must
// stand here as what it becomes: under cuGraphInstantiate the driver still gives the function of CUDA 11, which takes
// five arguments (cudaTypedefs.h).
#define ROOFWALK_DRIVER_CALLS(X)                 \
  X(cuInit)                                      \
  X(cuDriverGetVersion)                          \
  X(cuGetErrorName)                              \
  X(cuGetErrorString)                            \
  X(cuDeviceGetCount)                            \
  X(cuDeviceGet)                                 \
  X(cuDeviceGetName)                             \
  X(cuDeviceGetUuid)                             \
  X(cuDeviceGetAttribute)                        \
  X(cuDeviceTotalMem)                            \
  X(cuDevicePrimaryCtxRetain)                    \
  X(cuCtxSetCurrent)                             \
  X(cuCtxSetLimit)                               \
  X(cuCtxResetPersistingL2Cache)                 \
  X(cuMemGetInfo)                                \
  X(cuMemAlloc)                                  \
  X(cuMemFree)                                   \
  X(cuMemcpyHtoD)                                \
  X(cuMemcpyDtoH)                                \
  X(cuMemcpyDtoDAsync)                           \
  X(cuMemsetD8Async)                             \
  X(cuModuleLoadDataEx)                          \
  X(cuModuleUnload)                              \
  X(cuModuleGetFunction)                         \
  X(cuFuncLoad)                                  \
  X(cuFuncGetAttribute)                          \
  X(cuFuncSetAttribute)                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuLaunchKernel)                              \
  X(cuEventCreate)                               \
  X(cuEventDestroy)                              \
  X(cuEventRecord)                               \
  X(cuEventQuery)                                \
  X(cuEventElapsedTime)                          \
  X(cuStreamCreate)                              \
  X(cuStreamSynchronize)                         \
  X(cuStreamDestroy)                             \
  X(cuStreamBeginCapture)                        \
  X(cuStreamEndCapture)                          \
  X(cuGraphInstantiateWithFlags)                 \
  X(cuGraphUpload)                               \
  X(cuGraphLaunch)                               \
  X(cuGraphExecDestroy)                          \
  X(cuGraphDestroy)

struct DriverApi {
#define ROOFWALK_MEMBER(name) decltype(&::name) name = nullptr;
  ROOFWALK_DRIVER_CALLS(ROOFWALK_MEMBER)
#undef ROOFWALK_MEMBER
};

// The oldest driver that takes what the toolkit of CUDA 13 makes, as cuDriverGetVersion counts: 13000 comes with 580.
inline constexpr int kOldestDriverVersion = 13000;

// Opens the driver and starts it (cuInit). The library stays loaded. Errors: there is no driver, it is too old, or it
// does not start; with what to do.
Result<DriverApi> load_driver_api(const char* library = "libcuda.so.1");

// Of a driver from before CUDA 13; `found` says what tells.
Error too_old_driver(const std::string& found);

// What load_driver_api does once the calls are there: starts the driver and looks at its version.
Status start_driver(const DriverApi& api);

}  // namespace roofwalk
