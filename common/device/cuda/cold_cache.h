// Evicts dirty lines and data that the next kernel uses from L2, by reading a large buffer through it.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/result.h"
#include "common/device/cuda/driver/driver_api.h"
#include "common/device/cuda/gpu_properties.h"

namespace roofwalk {

// A memset would leave dirty lines of its own, and their write-back would count as the next kernel's DRAM bytes. So a
// kernel reads a buffer of twice the L2's size, after the part of L2 that a plan set aside has been released.
class ColdCache {
 public:
  ColdCache() = default;
  ~ColdCache();
  ColdCache(const ColdCache&) = delete;
  ColdCache& operator=(const ColdCache&) = delete;

  // Allocates the buffer and loads the kernel in the current context.
  Status open(const DriverApi& api, const GpuProperties& gpu);

  // Queues `rounds` reads of the buffer. Work queued afterwards finds a cold L2.
  CUresult sweep(CUstream stream, std::uint32_t rounds = 1) const;

  // For a lost context: forgets the resources without releasing them.
  void abandon() { buffer_ = 0, module_ = nullptr; }

  std::uint64_t bytes() const { return bytes_; }

  // The kernel's PTX, for any GPU of compute capability 7.5 or later, and its name.
  static std::string_view ptx();
  static constexpr const char* kKernel = "read_all_of_l2";

 private:
  CUresult give_back() const;  // releases the part of L2 that was set aside

  const DriverApi* api_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
  CUdeviceptr buffer_ = 0;
  std::uint64_t bytes_ = 0;
  unsigned blocks_ = 0;
  bool may_persist_ = false;
};

}  // namespace roofwalk
