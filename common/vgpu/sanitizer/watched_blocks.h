// Which blocks of a grid the sanitizer watches if watching all of them would take too long, and which of their warps
// miss a turn.
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

// Whether a warp of a watched block misses its next turn: in every other block by chance, one in four. Turns in a fixed
// order would let a kernel know that every warp has done something before any does the next thing, although nothing
// orders them. Runs that count keep the order (`seed` 0), because hits in caches depend on it; so do the other blocks,
// or a kernel could tell by the order whether its run counts. `turn`: how many the block has had.
inline bool misses_turn(std::uint64_t seed, std::uint64_t block, std::uint64_t turn, std::uint32_t warp) {
  if (seed == 0 || mix(seed ^ mix(block)) % 2 == 0) return false;
  return mix(seed ^ mix(block ^ mix(turn << 16 ^ warp))) % 4 == 0;
}

}  // namespace roofwalk::vgpu
