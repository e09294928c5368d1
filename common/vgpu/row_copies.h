// Copies of what the lanes of a block's warps read as they walk along 32 rows: neighbours here, far apart in memory,
// where rows of a power of two evict each other from the host's caches. They last as long as global memory stands
// still, so that each of the host's lines is fetched once, not once for each of its words.
#pragma once

#include <cstdint>

#include "common/vgpu/program.h"

namespace roofwalk::vgpu {

inline constexpr std::uint64_t kRowBytes = 64;  // of each lane: a line of the host's

// The bytes from first + l * stride on, for lane l.
class RowWindow {
 public:
  bool holds(std::uint64_t first, std::uint64_t stride, std::uint64_t stores) const {
    return first == first_ && stride == stride_ && stores == stores_;
  }
  // `from` is where the bytes of `first` are.
  void fill(std::uint64_t first, std::uint64_t stride, std::uint64_t stores, const std::uint8_t* from);

  std::uint8_t* bytes() { return bytes_; }  // [lane][kRowBytes]
  // All lanes' 4 bytes at a multiple of 4.
  std::uint32_t* words(std::uint64_t offset) {
    if ((gathered_ >> (offset / 4) & 1u) == 0) gather(offset);
    return words_[offset / 4];
  }

 private:
  void gather(std::uint64_t offset);

  std::uint64_t first_ = 1, stride_ = 0;  // no window starts at 1
  std::uint64_t stores_ = 0;              // Launch::stores_applied when it was filled
  std::uint32_t gathered_ = 0;            // bit w: words_[w] is filled
  alignas(64) std::uint8_t bytes_[kWarpSize * kRowBytes];
  alignas(64) std::uint32_t words_[kRowBytes / 4][kWarpSize];
};

// Of one block: two, for kernels that walk along the rows of two arrays.
class RowCopies {
 public:
  RowWindow& window(std::uint64_t first, std::uint64_t stride, std::uint64_t stores, const std::uint8_t* from) {
    if (windows_[newest_].holds(first, stride, stores)) return windows_[newest_];
    newest_ ^= 1u;
    RowWindow& other = windows_[newest_];
    if (!other.holds(first, stride, stores)) other.fill(first, stride, stores, from);
    return other;
  }

 private:
  RowWindow windows_[2];
  unsigned newest_ = 0;
};

}  // namespace roofwalk::vgpu
