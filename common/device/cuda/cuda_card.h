// One GPU as its driver describes it, and the machine that the course sees in it.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/device/cuda/driver_api.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct CudaCard {
  int ordinal = 0;
  std::string name;            // "NVIDIA H100 80GB HBM3"
  std::string uuid;            // "GPU-..." as nvidia-smi prints it, "MIG-..." for a slice
  int driver_version = 0;      // 13000 for CUDA 13.0
  int compute_capability = 0;  // 90 for 9.0
  int sms = 0;
  double clock_hz = 0, memory_clock_hz = 0;  // the highest
  int memory_bus_bits = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  int persisting_l2_bytes = 0;  // 0: no part of L2 can be set aside
  int max_threads_per_sm = 0, max_blocks_per_sm = 0, max_threads_per_block = 0, registers_per_sm = 0;
  int shared_bytes_per_sm = 0, max_shared_bytes_per_block = 0, reserved_shared_bytes_per_block = 0;
  bool ends_long_kernels = false;    // a screen hangs on it
  bool reaches_host_memory = false;  // kernels can read all of the process (HMM, ATS)
  bool is_integrated = false;        // its memory is the host's
};

// Errors: there is no such GPU, the driver's own.
Result<CudaCard> query_card(const DriverApi& api, int ordinal);

// The machine file that names this card (`driver_name`) and has as many SMs, with the memory that is really there. Else
// a machine made of what the driver says: what it cannot say stays 0, which is "not known".
Machine machine_of(const CudaCard& card);

}  // namespace roofwalk
