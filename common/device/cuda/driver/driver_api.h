// The CUDA driver as a table of function pointers, filled from libcuda.so.1 at run time, so that one program runs on
// machines with and without a driver; tests fill it with a fake (tests/support/fake_driver.h).
#pragma once

#include <cuda.h>

#include "common/base/result.h"

namespace roofwalk {

static_assert(CUDA_VERSION >= 13000, "the headers of CUDA 13 or later are needed");

// All driver calls that this program uses. cuda.h adds a version to some names (cuMemAlloc becomes cuMemAlloc_v2):
// DriverApi's members have the versioned name, but the driver is asked for the plain one. If cuda.h turns a name into
// an entirely different one, list that one: asked for cuGraphInstantiate, the driver still returns CUDA 11's function,
// which takes five arguments (cudaTypedefs.h).
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

// The oldest driver that runs the output of the CUDA 13 toolkit, in cuDriverGetVersion's numbers: driver 580 reports
// 13000.
inline constexpr int kOldestDriverVersion = 13000;

// Opens the driver and starts it (cuInit). The library stays loaded. Errors, with advice: there is no driver, it is too
// old, or it does not start.
Result<DriverApi> load_driver_api(const char* library = "libcuda.so.1");

// Returns the Error for a driver from before CUDA 13; `found` describes the driver that was found.
Error too_old_driver(const std::string& found);

// Starts the driver and checks its version. load_driver_api calls this once it has loaded the calls.
Status start_driver(const DriverApi& api);

}  // namespace roofwalk
