// A library that load_driver_api accepts as libcuda.so.1. SMALL_DRIVER selects its answers: "stub", or a version
// number.
#include <cstdlib>
#include <string_view>

#include "common/device/cuda/driver/driver_api.h"

namespace {

std::string_view mode() { return std::getenv("SMALL_DRIVER"); }

CUresult start(unsigned) { return CUDA_SUCCESS; }

CUresult version(int* out) {
  *out = std::atoi(mode().data());
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(const char* symbol, void** function, int,
                                                                               cuuint64_t,
                                                                               CUdriverProcAddressQueryResult*) {
  if (mode() == "stub") return CUDA_ERROR_STUB_LIBRARY;
  // Drivers before CUDA 12.4 have no cuFuncLoad.
  if (std::string_view(symbol) == "cuFuncLoad" && std::atoi(mode().data()) < 12040) return CUDA_ERROR_NOT_FOUND;
  *function = std::string_view(symbol) == "cuDriverGetVersion" ? reinterpret_cast<void*>(&version)
                                                               : reinterpret_cast<void*>(&start);
  return CUDA_SUCCESS;
}
