// One GPU as its driver describes it, and the Machine that represents it in the course.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/device/cuda/driver/driver_api.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct GpuProperties {
  int ordinal = 0;
  std::string name;            // "NVIDIA H100 80GB HBM3"
  std::string uuid;            // "GPU-..." as nvidia-smi prints it, "MIG-..." for a slice
  int driver_version = 0;      // 13000 for CUDA 13.0
  int compute_capability = 0;  // 90 for 9.0
  int sms = 0;
  double clock_hz = 0, memory_clock_hz = 0;  // the highest possible
  int memory_bus_bits = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  int persisting_l2_bytes = 0;  // 0: no part of L2 can be set aside
  int max_threads_per_sm = 0, max_blocks_per_sm = 0, max_threads_per_block = 0, registers_per_sm = 0;
  int shared_bytes_per_sm = 0, max_shared_bytes_per_block = 0, reserved_shared_bytes_per_block = 0;
  bool ends_long_kernels = false;    // a display is attached
  bool reaches_host_memory = false;  // kernels can read all of the process's memory (HMM, ATS)
  bool is_integrated = false;        // shares the host's memory
};

// Asks the driver about one GPU. Errors: there is no such GPU; the driver's own.
Result<GpuProperties> query_gpu(const DriverApi& api, int ordinal);

// If a machine file names this GPU (`driver_name`) and has the same compute capability and number of SMs, returns that
// machine with the GPU's actual memory size. Otherwise returns a machine made from the driver's report and from tables
// by compute capability, with 0 (not known) for all other values.
Machine machine_of(const GpuProperties& gpu);

}  // namespace roofwalk
