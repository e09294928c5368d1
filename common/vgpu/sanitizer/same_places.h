// Which lanes of an access touch the same place.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// Groups the lanes of an access by address, for the patterns that kernels have: runs of adjacent lanes with one
// address, and rows of fewer than 32 lanes that repeat the same addresses. Lanes whose addresses repeat in any other
// way are checked one by one.
class SamePlaces {
 public:
  explicit SamePlaces(const Access& access) {
    if (access.uniform) {
      ends_ = 1u << (kWarpSize - 1);
    } else if (!access.implied) {
      ends_ = differing(access.address, access.address + 1, kWarpSize - 1) | 1u << (kWarpSize - 1);
      while (period_ > 4 && differing(access.address, access.address + period_ / 2, period_ / 2) == 0) {
        period_ /= 2;
        rows_ |= rows_ << period_;
      }
    }
  }

  // The lanes with the same address as `lane`. Some lanes below `lane` may be missing.
  std::uint32_t with(int lane) const {
    const int last = std::min(lane + std::countr_zero(ends_ >> lane), lane | (period_ - 1));
    return static_cast<std::uint32_t>((2ull << last) - (1ull << lane)) * rows_;
  }

 private:
  // Bit i is set if a[i] != b[i].
  static std::uint32_t differing(const std::uint64_t* a, const std::uint64_t* b, int count) {
    std::uint32_t out = 0;
    for (int i = 0; i < count; ++i) out |= static_cast<std::uint32_t>(a[i] != b[i]) << i;
    return out;
  }

  std::uint32_t ends_ = kAllLanes;  // bit l: lane l + 1 has a different address
  int period_ = kWarpSize;          // lanes of a row, a power of two
  std::uint32_t rows_ = 1;          // bit l: a row begins at lane l
};

}  // namespace roofwalk::vgpu
