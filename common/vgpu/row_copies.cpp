#include "common/vgpu/row_copies.h"

#include <cstring>

namespace roofwalk::vgpu {

void RowWindow::fill(std::uint64_t first, std::uint64_t stride, std::uint64_t stores, const std::uint8_t* from) {
  first_ = first;
  stride_ = stride;
  stores_ = stores;
  gathered_ = 0;
  for (std::uint64_t l = 0; l < kWarpSize; ++l) std::memcpy(bytes_ + l * kRowBytes, from + l * stride, kRowBytes);
}

void RowWindow::gather(std::uint64_t offset) {
  const std::uint64_t word = offset / 4;
  gathered_ |= 1u << word;
  for (std::uint64_t l = 0; l < kWarpSize; ++l) std::memcpy(&words_[word][l], bytes_ + l * kRowBytes + word * 4, 4);
}

}  // namespace roofwalk::vgpu
