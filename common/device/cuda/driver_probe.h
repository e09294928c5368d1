// What the driver says of this machine's GPUs, asked in a child process: a broken driver may crash or hang whoever asks
// it, and that must be a finding and not the end of the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/device/cuda/gpu_state.h"

namespace roofwalk {

struct ProbedGpu {
  std::string name = {};
  int major = 0, minor = 0;                      // compute capability
  std::optional<bool> reaches_host_memory = {};  // CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS
  GpuState state = {};                           // its uuid is there always, the rest as far as NVML tells
};

struct DriverProbe {
  bool has_library = false;       // libcuda.so.1 can be opened
  int cuda_version = 0;           // the newest that it supports: 13000 is 13.0; 0: it did not say
  int error = 0;                  // what cuInit or the count of devices gave; 0: nothing went wrong
  std::string trouble = {};       // in words, where there is an error or the driver crashed or hung
  std::string nvml_trouble = {};  // why the states have holes
  std::vector<ProbedGpu> gpus = {};
};

struct ProbeOptions {
  const char* driver = "libcuda.so.1";
  const char* nvml = "libnvidia-ml.so.1";
  double timeout_s = 20;  // a GPU that sleeps without persistence mode takes seconds to wake
};

// Forks: call it before the program starts threads.
DriverProbe probe_driver(const ProbeOptions& options = {});

}  // namespace roofwalk
