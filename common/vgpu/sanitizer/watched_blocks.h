// Which blocks of a grid the sanitizer watches if watching all of them would take too long, and which of their warps
// miss a turn.
#pragma once

#include <algorithm>
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

// Whether a warp of a watched block misses its next turn. Turns in a fixed order would let a kernel know that every
// warp has done something before any does the next thing, although nothing orders them. Runs that count keep the order
// (`seed` 0), because hits in caches depend on it.
//
// Half of the blocks are left alone for their first turns, 8 to 4,096 of them, so that a kernel that found its warps in
// order knows nothing of the next turn; then one warp misses 1,024 turns. Otherwise, one warp misses all turns of every
// other span of 1,024, by chance, so that a warp that waits by counting turns waits in vain; and in half of the spans
// of 64 turns, one warp misses all of them, or each warp one in four. A warp has its turn nevertheless if all others of
// its block wait: at once if they wait at barriers, after a few polls if they poll (patience()). `turn`: how many the
// block has had; `warps`: of the block.
inline bool misses_turn(std::uint64_t seed, std::uint64_t block, std::uint64_t turn, std::uint32_t warp,
                        std::uint64_t warps) {
  constexpr std::uint64_t kLongSpan = 1024, kShortSpan = 64, kLeastQuiet = 8, kQuietLengths = 9;
  if (seed == 0) return false;
  const std::uint64_t own = mix(seed ^ mix(block));
  const bool begins_quietly = own % 2 == 0;
  const std::uint64_t least = kLeastQuiet << (own >> 8) % kQuietLengths;
  const std::uint64_t quiet = begins_quietly ? least + (own >> 16) % least : 0;
  if (turn < quiet) return false;
  const std::uint64_t now = begins_quietly ? turn - quiet : turn + (own >> 16) % kLongSpan;
  const auto one_of = [&](std::uint64_t chance) { return (chance >> 8) % warps == warp; };
  const std::uint64_t in_long = mix(own ^ mix(now / kLongSpan)), in_short = mix(own + mix(~(now / kShortSpan)));
  const bool is_long = in_long % 2 == 0 || (begins_quietly && now < kLongSpan);
  if (is_long && one_of(in_long)) return true;
  if (in_short % 4 == 0) return one_of(in_short);
  return in_short % 4 == 1 && mix(own ^ mix(turn << 16 ^ warp)) % 4 == 0;
}

// How many times in a row a warp may poll in vain while all others of its block poll, too, or miss their turns. Nearly
// always once, because nothing comes of it and each poll costs work; sometimes more often, for a warp that polls a
// number of times and then goes on as if it had seen what it waited for.
inline std::uint32_t patience(std::uint64_t seed, std::uint64_t block, std::uint64_t turn) {
  constexpr std::uint64_t kSpan = 1024, kOneOf = 16;
  return mix(seed + mix(block ^ ~(turn / kSpan))) % kOneOf == 0 ? 64 : 1;
}

// Whether a warp that has polled in vain `polls` times in a row leaves out a turn while another warp of its block
// works. It never leaves out the first turns: cuda::barrier polls 16 times before it sleeps.
inline bool rests(std::uint32_t polls, std::uint32_t patience, std::uint64_t turn, std::uint32_t warp) {
  constexpr std::uint32_t kFirst = 16, kOneOf = 32;
  return polls > std::max(kFirst, patience) && (turn + warp) % kOneOf != 0;
}

}  // namespace roofwalk::vgpu
