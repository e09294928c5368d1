// The ranges of addresses that tell shared, local and global memory apart.
#pragma once

#include <cstdint>

namespace roofwalk::vgpu {

// Generic addresses in these windows belong to shared and local memory, all others to global memory. Constant memory is
// part of the global addresses.
inline constexpr std::uint64_t kSharedWindow = 0x2000'0000'0000, kLocalWindow = 0x3000'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 1ull << 32;
// The caches see local memory at addresses that begin here, in the order [multiprocessor][warp slot][word][lane].
inline constexpr std::uint64_t kLocalPhysical = 0x4000'0000'0000;

}  // namespace roofwalk::vgpu
