// The heap from which kernels take memory with malloc() and new. It lives as long as the program, so that one kernel
// may use what another has made. Its own bookkeeping lies outside of device memory and causes no traffic.
#pragma once

#include <cstdint>
#include <map>

namespace roofwalk::vgpu {

class Heap {
 public:
  Heap(std::uint64_t address, std::uint64_t size_bytes) : free_{{address, size_bytes}} {}

  // The lowest address at which there is room, a multiple of kAlignBytes; 0: there is none.
  std::uint64_t allocate(std::uint64_t size_bytes);
  // False: nothing begins at this address that is allocated.
  bool release(std::uint64_t address);

  static constexpr std::uint64_t kAlignBytes = 16;  // CUDA C++ Programming Guide, Dynamic Global Memory Allocation

 private:
  std::map<std::uint64_t, std::uint64_t> free_, taken_;  // by address: bytes
};

}  // namespace roofwalk::vgpu
