// The turns that lanes take in atomics: as compare-and-swap loops where ptxas implements them so, else in L2. (Atomics
// on shared memory that are not loops take wavefronts: shared_memory.h.)
#pragma once

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// The words that the active lanes of an atomic change, in ascending order; words of 64 bits count as one.
struct Words {
  std::uint64_t of[kWarpSize];
  int count = 0;
};
Words words_of(const Access& access);

// Returns the element of Multiprocessor::update_cycles for a sector. Sectors that share an element would seem to be
// one, so neighbours never do, and those of different stretches seldom.
inline constexpr std::size_t kSectorPlaces = 1u << 14;
std::size_t place_of_sector(std::uint64_t sector);

// For an atomic with is_retried(): counts the swaps of each word, and records them for a traced warp. Where blocks may
// wait for each other, the warp's clock (PathClock::of_grid) is put off by them.
void count_swaps(Launch& launch, Warp& warp, const Op* op, const Access& access, bool shared);

// For any other atomic on global memory: counts the updates of each sector, and records them for a traced warp. L2
// changes all words of a sector at once, but one lane's word after the other's if they are the same word.
void count_updates(Launch& launch, Warp& warp, const Op* op, const Access& access);

}  // namespace roofwalk::vgpu
