// An L2 without a byte of what the next kernel wants, and without a dirty one: all of it is read over.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/result.h"
#include "common/device/cuda/cuda_card.h"
#include "common/device/cuda/driver_api.h"

namespace roofwalk {

// A memset would leave its own dirty lines, whose write-back falls into the next kernel's DRAM bytes. So a kernel of
// ours reads a buffer of twice the L2, and what a plan set aside in L2 for good is given back first.
class ColdCache {
 public:
  ColdCache() = default;
  ~ColdCache();
  ColdCache(const ColdCache&) = delete;
  ColdCache& operator=(const ColdCache&) = delete;

  // Takes its memory and loads its kernel into the current context.
  Status open(const DriverApi& api, const CudaCard& card);

  // Queues the reading, `rounds` times over. What is queued after it finds L2 cold.
  CUresult sweep(CUstream stream, std::uint32_t rounds = 1) const;

  // The context is gone: nothing is given back.
  void abandon() { buffer_ = 0, module_ = nullptr; }

  std::uint64_t bytes() const { return bytes_; }

  // The PTX of the kernel, for any GPU of compute capability 7.5 or later; its name.
  static std::string_view ptx();
  static constexpr const char* kKernel = "read_all_of_l2";

 private:
  CUresult give_back() const;  // what was set aside in L2

  const DriverApi* api_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
  CUdeviceptr buffer_ = 0;
  std::uint64_t bytes_ = 0;
  unsigned blocks_ = 0;
  bool may_persist_ = false;
};

}  // namespace roofwalk
