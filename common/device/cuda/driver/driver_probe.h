// The driver's report on this machine's GPUs. A child process asks for it, because a broken driver may crash or hang,
// which must be reported and not end the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/device/cuda/nvml/gpu_state.h"

namespace roofwalk {

struct ProbedGpu {
  std::string name = {};
  int major = 0, minor = 0;                      // compute capability
  std::optional<bool> reaches_host_memory = {};  // CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
  GpuState state = {};                           // always has the uuid; further values as far as NVML reports them
};

struct DriverProbe {
  bool has_library = false;       // libcuda.so.1 can be opened
  int cuda_version = 0;           // the newest version that the driver supports: 13000 is 13.0; 0: not reported
  int error = 0;                  // result of cuInit or of counting the devices; 0: no error
  std::string trouble = {};       // in words, if there was an error or the driver crashed or hung
  std::string nvml_trouble = {};  // the reason why the states are incomplete
  std::vector<ProbedGpu> gpus = {};
};

struct ProbeOptions {
  const char* driver = "libcuda.so.1";
  const char* nvml = "libnvidia-ml.so.1";
  double timeout_s = 20;  // a GPU without persistence mode takes seconds to wake up
};

// Forks, so call this before the program starts threads.
DriverProbe probe_driver(const ProbeOptions& options = {});

}  // namespace roofwalk
