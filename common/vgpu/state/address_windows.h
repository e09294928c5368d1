// The address ranges that tell generic addresses and the caches which state space an address belongs to.
#pragma once

#include <cstdint>

namespace roofwalk::vgpu {

// Generic addresses in these windows are in shared or local memory; all other addresses are global. Constant memory
// is one of the global regions.
inline constexpr std::uint64_t kSharedWindow = 0x2000'0000'0000, kLocalWindow = 0x3000'0000'0000;
inline constexpr std::uint64_t kWindowBytes = 1ull << 32;
// Base of the local memory addresses that the caches see: [multiprocessor][warp slot][word][lane].
inline constexpr std::uint64_t kLocalPhysical = 0x4000'0000'0000;

}  // namespace roofwalk::vgpu
