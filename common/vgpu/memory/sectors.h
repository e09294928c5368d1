// The exact counts of the memory hierarchy: one sectored L1 per SM (write-through, no allocation on stores), one
// sectored write-back L2, and DRAM behind L2. Lines of 128 bytes hold four sectors of 32 bytes.
//
// The rules that fix the counts:
// - A read requests sectors from L1. Sectors that miss in L1 are read from L2, and sectors that miss in L2 from DRAM.
//   A machine whose DRAM delivers 64 bytes at least (Machine::dram_access_bytes) reads the sector's neighbour, too: the
//   other half of an aligned 64 bytes.
// - Loads that bypass L1 (passes_l1() in instructions.h) read all their sectors from L2. Acquires and fences beyond
//   block scope empty L1.
// - A store goes through L1 to L2. A copy of the line in L1 is updated and stays valid.
// - L2 accepts a store without a read: each sector keeps a mask of its written bytes. A fully written sector is
//   valid. A partly written sector costs one fill read when it is read or evicted from L2.
// - Dirty sectors are written to DRAM when their line is evicted from L2, or else at the end of the plan.
// - Replacement is least recently used. The set of L2 is murmur3's 64-bit finalizer of the line's frame number
//   (frames.h), scaled to the number of sets. L1 has n sets: each n frames in
//   succession are in n different sets, in an order that the finalizer of their number by n chooses (L1Cache::set_of).
// - An L2 may have two halves (Machine::l2_far_latency_cycles), one for the SMs with even and one for those with odd
//   indices. A line has its home in one of them. SMs of the other half read a copy that their half keeps; what the copy
//   lacks comes from the home, and what the home lacks from DRAM. Stores and atomics go to the home and drop the copy.
//   Of two neighbouring frames, each half is the home of one; of n sets in a half, each n such pairs from a multiple of
//   n on are in different ones (L2Cache::set_of). So data that all SMs read stays in L2 nearly up to the size of a
//   half. Memsets and copies ask as SM 0 does.
#pragma once

#include <algorithm>
#include <cstdint>

namespace roofwalk::vgpu {

inline constexpr int kSectorBytes = 32;
inline constexpr int kLineBytes = 128;

// Returns the fewest sectors that hold `bytes` adjacent bytes, at most the `actual` sectors of the request.
inline constexpr std::uint64_t fewest_sectors(std::uint64_t bytes, std::uint64_t actual) {
  return std::min(actual, (bytes + kSectorBytes - 1) / kSectorBytes);
}

// Identifies a site, which is a PTX instruction of one launch, or a memset or copy: its index in the plan's list of
// counters.
using InstructionId = std::uint32_t;

// DRAM traffic that one site caused, in sectors.
struct InstructionTraffic {
  std::uint64_t dram_read_sectors = 0, dram_write_sectors = 0;
};

}  // namespace roofwalk::vgpu
