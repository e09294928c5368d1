// for_lanes(), the loop of most handlers over a warp's lanes: compilers turn it into vector operations and a blend.
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// The mask bit of each lane, in words as wide as the vector elements that they select.
template <class Word>
struct LaneBits {
  alignas(64) Word of[kWarpSize];
  constexpr LaneBits() : of() {
    for (int lane = 0; lane < kWarpSize; ++lane) of[lane] = static_cast<Word>(Word{1} << lane);
  }
};
template <class Word>
inline constexpr LaneBits<Word> kLaneBits{};

// Whether a lane is active, computed at the width of values of type R.
template <class R>
inline bool is_active(std::uint32_t mask, int lane) {
  using Word = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;
  return (Word{mask} & kLaneBits<Word>.of[lane]) != 0;
}

// result[lane] = f(lane) for the active lanes. `f` must be safe to call for every lane, because it may also run for
// inactive ones.
template <class R, class F>
inline void for_lanes(R* __restrict result, std::uint32_t mask, F&& f) {
  R* const out = static_cast<R*>(__builtin_assume_aligned(result, 64));
  if (mask == kAllLanes) {
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) out[lane] = f(lane);
  } else {
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const R value = f(lane);
      out[lane] = is_active<R>(mask, lane) ? value : out[lane];
    }
  }
}

// Returns the mask of the lanes for which `f(lane)` holds.
template <class F>
inline std::uint32_t lane_bits(F&& f) {
  std::uint32_t bits[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) bits[lane] = f(lane) ? 1u << lane : 0u;
  std::uint32_t all = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) all |= bits[lane];
  return all;
}

inline void set_predicate(std::uint32_t& predicate, std::uint32_t mask, std::uint32_t bits) {
  predicate = (predicate & ~mask) | (bits & mask);
}

}  // namespace roofwalk::vgpu
