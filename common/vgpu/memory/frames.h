// Maps addresses to frames, which are to the caches what physical addresses are on hardware. Thanks to frames, counts
// and times do not depend on where a run places its buffers (Memory::lay_out).
#pragma once

#include <cstdint>
#include <vector>

namespace roofwalk::vgpu {

class Frames {
 public:
  // Maps addresses beginning with `base`, a multiple of kWindowBytes.
  explicit Frames(std::uint64_t base) : first_window_(base / kWindowBytes) {}

  // Maps a buffer at `address` to frames beginning with `frame`. Both must be multiples of a line, and no window may
  // contain bytes of two buffers.
  void place(std::uint64_t address, std::uint64_t size_bytes, std::uint64_t frame) {
    const std::uint64_t last = (address + size_bytes - 1) / kWindowBytes - first_window_;
    if (shifts_.size() <= last) shifts_.resize(last + 1);
    for (std::uint64_t w = address / kWindowBytes - first_window_; w <= last; ++w) {
      shifts_[w] = (address - frame) / kBytesOfLine;
    }
  }

  // Returns the frame number for a line number.
  std::uint64_t frame_of(std::uint64_t line) const {
    const std::uint64_t window = line / (kWindowBytes / kBytesOfLine) - first_window_;
    return window < shifts_.size() ? line - shifts_[window] : line;
  }

 private:
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 30, kBytesOfLine = 128;

  std::uint64_t first_window_;
  std::vector<std::uint64_t> shifts_;  // by window: line number minus frame number
};

}  // namespace roofwalk::vgpu
