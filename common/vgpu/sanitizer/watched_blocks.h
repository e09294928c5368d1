// Which blocks of a grid the sanitizer watches if watching all of them would take too long.
#pragma once

#include <cstdint>

#include "common/base/mix.h"

namespace roofwalk::vgpu {

class WatchedBlocks {
 public:
  // Watches about `most` of `total` blocks: the first ones, and others chosen by the seed. `most` 0: all blocks.
  WatchedBlocks(std::uint64_t most, std::uint64_t seed, std::uint64_t total) : seed_(seed) {
    if (most == 0 || total <= most) return;
    first_ = most / 4;
    const double share = static_cast<double>(most - first_) / static_cast<double>(total - first_);
    threshold_ = static_cast<std::uint64_t>(share * 0x1p64);
  }

  // `block`: its linear number in the grid.
  bool hold(std::uint64_t block) const { return block < first_ || mix(seed_ + block) < threshold_; }

 private:
  std::uint64_t seed_, first_ = ~0ull, threshold_ = 0;
};

}  // namespace roofwalk::vgpu
