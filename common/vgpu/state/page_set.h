// A set of pages of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roofwalk::vgpu {

// May have pages that nobody put there.
class PageSet {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  void put(std::uint64_t address) {
    if (bits_.empty()) bits_.resize(kBits / 64);
    const std::uint64_t bit = address / kPageBytes % kBits;
    bits_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  bool may_hold(std::uint64_t low, std::uint64_t end) const {
    constexpr std::uint64_t kFew = 16;  // pages
    if (bits_.empty()) return false;
    const std::uint64_t first = low / kPageBytes, last = (end - 1) / kPageBytes;
    bool may = last - first >= kFew;
    for (std::uint64_t page = first; !may && page <= last; ++page) {
      const std::uint64_t bit = page % kBits;
      may = (bits_[bit / 64] >> bit % 64 & 1) != 0;
    }
    return may;
  }
  void clear() { bits_.clear(); }

 private:
  static constexpr std::uint64_t kBits = 1u << 14;
  std::vector<std::uint64_t> bits_;
};

}  // namespace roofwalk::vgpu
