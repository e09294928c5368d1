#include <dlfcn.h>
#include <fmt/format.h>

#include "common/device/cuda/cuda_errors.h"
#include "common/device/cuda/driver/driver_api.h"

namespace roofwalk {
namespace {

// Looks up a driver call. `plain` is the name as programs write it; the driver returns the variant that has this name
// in CUDA_VERSION.
template <class Function>
Status find(decltype(&::cuGetProcAddress) look_up, const char* plain, Function& function) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult why = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult code = look_up(plain, &found, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &why);
  // Known errors other than "not found" come from the toolkit's stub of the driver.
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_FOUND && find_cuda_error(code) != nullptr) {
    return cuda_error({}, code, "start the NVIDIA driver");
  }
  if (code != CUDA_SUCCESS || found == nullptr) return too_old_driver(fmt::format("it has no {}", plain));
  function = reinterpret_cast<Function>(found);
  return kOk;
}

}  // namespace

Result<DriverApi> load_driver_api(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{
        .message = fmt::format("there is no NVIDIA driver here: {} cannot be opened", library),
        .advice = "use `--device virtual`; in a container, start it with the GPU passed in (docker: --gpus all)"};
  }
  const auto look_up = reinterpret_cast<decltype(&::cuGetProcAddress)>(::dlsym(handle, "cuGetProcAddress_v2"));
  if (look_up == nullptr) return too_old_driver("it is from before CUDA 12");
  DriverApi api;
#define ROOFWALK_FIND(name) ROOFWALK_TRY_STATUS(find(look_up, #name, api.name));
  ROOFWALK_DRIVER_CALLS(ROOFWALK_FIND)
#undef ROOFWALK_FIND
  ROOFWALK_TRY_STATUS(start_driver(api));
  return api;
}

}  // namespace roofwalk
