// What the driver says about this machine's GPUs. Asked in a child process, because a broken driver may crash or hang,
// and that must be a finding rather than the end of the program.
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
  GpuState state = {};                           // always has the uuid; the rest as far as NVML reports it
};

struct DriverProbe {
  bool has_library = false;       // libcuda.so.1 can be opened
  int cuda_version = 0;           // the newest that it supports: 13000 is 13.0; 0: not reported
  int error = 0;                  // result of cuInit or of counting the devices; 0: no error
  std::string trouble = {};       // in words, if there was an error or the driver crashed or hung
  std::string nvml_trouble = {};  // why the states are incomplete
  std::vector<ProbedGpu> gpus = {};
};

struct ProbeOptions {
  const char* driver = "libcuda.so.1";
  const char* nvml = "libnvidia-ml.so.1";
  double timeout_s = 20;  // a GPU without persistence mode takes seconds to wake up
};

// Forks: call it before the program starts threads.
DriverProbe probe_driver(const ProbeOptions& options = {});

}  // namespace roofwalk
