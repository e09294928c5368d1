// Makes L2 cold for the next kernel: reads a large buffer through L2, which evicts dirty lines and the kernel's data.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/result.h"
#include "common/device/cuda/driver/driver_api.h"
#include "common/device/cuda/gpu_properties.h"

namespace roofwalk {

// Reads a buffer of eight times L2's size with a kernel, after releasing the part of L2 that a plan set aside. A memset
// would leave dirty lines, whose write-back would count as the next kernel's DRAM bytes. The buffer is this large
// because L2 keeps a part of what is read in a loop: on an H200, eight reads of a buffer of twice its L2 left 29 MB of
// an earlier pass's dirty lines there, as many as one read, while a kernel that read 503 MB evicted them.
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

  // Forgets the resources without releasing them, for a lost context.
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
