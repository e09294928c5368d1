#include "common/device/cuda/driver/driver_api.h"

#include <fmt/format.h>

#include "common/device/cuda/cuda_errors.h"

namespace roofwalk {

Error too_old_driver(const std::string& found) {
  return {.message = fmt::format("the NVIDIA driver is too old: {}, and CUDA 13 needs driver 580 or later", found),
          .advice = "ask whoever runs this machine to update the driver; `--device virtual` works without one"};
}

Status start_driver(const DriverApi& api) {
  if (const CUresult code = api.cuInit(0); code != CUDA_SUCCESS)
    return cuda_error(api, code, "start the NVIDIA driver");
  int version = 0;
  if (const CUresult code = api.cuDriverGetVersion(&version); code != CUDA_SUCCESS) {
    return cuda_error(api, code, "ask the driver for its version");
  }
  if (version < kOldestDriverVersion) {
    return too_old_driver(fmt::format("it is for CUDA {}.{}", version / 1000, version % 1000 / 10));
  }
  return kOk;
}

}  // namespace roofwalk
