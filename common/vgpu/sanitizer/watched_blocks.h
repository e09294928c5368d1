// Which blocks of a grid the sanitizer watches if watching all of them would take too long, and what their warps do by
// chance: miss a turn, end one early, take the ways of a branch in another order.
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

// For how many turns a watched block is left alone: half of them for 8 to 8,191 turns, the others for none. Of the
// first block, three quarters of the seeds leave none: it may be the only one of its grid, and have few turns.
inline std::uint64_t quiet_turns(std::uint64_t seed, std::uint64_t block) {
  constexpr std::uint64_t kLeastQuiet = 8, kQuietLengths = 9;
  const std::uint64_t own = mix(seed ^ mix(block));
  const std::uint64_t least = kLeastQuiet << (own >> 8) % kQuietLengths;
  return own % (block == 0 ? 4 : 2) == 0 ? least + (own >> 16) % least : 0;
}

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
  constexpr std::uint64_t kLongSpan = 1024, kShortSpan = 64;
  if (seed == 0) return false;
  const std::uint64_t own = mix(seed ^ mix(block));
  const std::uint64_t quiet = quiet_turns(seed, block);
  const bool begins_quietly = quiet != 0;
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

// Whether warps of a watched block often end turns early (ends_turn()).
inline bool ends_often(std::uint64_t seed, std::uint64_t block, std::uint64_t turn) {
  constexpr std::uint64_t kFirstBlocks = 8, kOneOf = 32, kSpan = 64, kOneSpanOf = 16;
  const std::uint64_t own = mix(~seed ^ mix(block)), quiet = quiet_turns(seed, block);
  if (turn < quiet || (block >= kFirstBlocks && own % kOneOf != 0)) return false;
  return turn - quiet < kSpan || mix(own ^ turn / kSpan) % kOneSpanOf == 0;
}

// Whether a warp of a watched block ends its turn at a place where other warps may come in between (op_may_end_turn in
// exec/turns.h): in front of an access that they may have to do with, such as a load and the store of what was made of
// it, or of a fence, or behind a store that tells them something, as of data that are yet to be stored. Otherwise none
// could ever come between what a warp does from one backward branch to the next. In front of a store and behind it, and
// in front of a compare-and-swap that is tried once, that is most likely (`likely`), because then the others do all
// that they do with the old value, or with the new one. A warp that comes to the place again may end that turn, too.
//
// As each time costs a turn, this is likely only in the first blocks and in some others, and there at first, when they
// are no longer left alone, and in some spans of 64 turns. `place`: the instruction in front of which it is, or ~ the
// one behind which it is.
inline bool ends_turn(std::uint64_t seed, std::uint64_t block, std::uint64_t turn, std::uint32_t warp,
                      std::uint32_t place, bool likely) {
  constexpr std::uint64_t kWhole = 32, kOften = 20, kSometimes = 4, kAtTimes = 1;
  if (turn < quiet_turns(seed, block)) return false;
  const std::uint64_t own = mix(~seed ^ mix(block));
  const std::uint64_t share = !ends_often(seed, block, turn) ? kAtTimes : likely ? kOften : kSometimes;
  return mix(own + mix(turn << 32 ^ std::uint64_t{warp} << 26 ^ place)) % kWhole < share;
}

// For how many turns a warp of a watched block that may have taken a lock then holds it; nearly always 0. Long enough
// for others that try a number of times and go on without it, in the blocks and spans in which turns end early.
inline std::uint64_t turns_to_hold(std::uint64_t seed, std::uint64_t block, std::uint64_t turn, std::uint32_t warp) {
  constexpr std::uint64_t kLeast = 16, kLengths = 5;
  if (!ends_often(seed, block, turn)) return 0;
  const std::uint64_t chance = mix(~(seed + mix(block)) ^ mix(turn << 8 ^ warp));
  return chance % 2 == 0 ? kLeast << (chance >> 8) % kLengths : 0;
}
// How often others try in vain meanwhile, at most.
inline constexpr std::uint32_t kTriesInVain = 256;

// Whether a warp of a watched block takes the ways of a branch in the other order. `executed`: its instructions so far.
inline bool turns_around(std::uint64_t seed, std::uint64_t block, std::uint64_t turn, std::uint32_t warp,
                         std::uint64_t executed) {
  if (turn < quiet_turns(seed, block)) return false;
  return mix(seed + mix(block) + mix(executed << 5 ^ warp)) % 2 == 0;
}

}  // namespace roofwalk::vgpu
