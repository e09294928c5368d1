// Member masks: which lanes of a warp take part in an exchange. Lanes with different masks exchange separately.
#pragma once

#include <bit>

#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Calls visit(lanes) once for each distinct mask, with the executing lanes that have this mask.
template <class Visit>
void for_each_group(const Warp& warp, const std::uint32_t* masks, Visit&& visit) {
  for (std::uint32_t left = warp.mask; left != 0;) {
    const std::uint32_t members = masks[std::countr_zero(left)];
    std::uint32_t same = 0;
    for (int l = 0; l < kWarpSize; ++l) same |= masks[l] == members ? 1u << l : 0u;
    visit(same & left);
    left &= ~same;
  }
}

// The lane whose value a lane gets from a shuffle with the sources b and c; its own if `is_in_range` is false.
struct ShuffleSource {
  int lane;
  bool is_in_range;
};
inline ShuffleSource shuffle_source(ptx::ShuffleMode mode, int lane, std::uint32_t b, std::uint32_t c) {
  const int clamp = static_cast<int>(c & 31u), segment = static_cast<int>(c >> 8 & 31u);
  const int delta = static_cast<int>(b & 31u);
  const int lowest = lane & segment, highest = lowest | (clamp & ~segment);
  const auto from = [&](int other, bool is_in_range) { return ShuffleSource{is_in_range ? other : lane, is_in_range}; };
  switch (mode) {
    case ptx::ShuffleMode::up:
      return from(lane - delta, lane - delta >= highest);
    case ptx::ShuffleMode::down:
      return from(lane + delta, lane + delta <= highest);
    case ptx::ShuffleMode::bfly:
      return from(lane ^ delta, (lane ^ delta) <= highest);
    case ptx::ShuffleMode::idx: {
      const int other = lowest | (delta & ~segment);
      return from(other, other <= highest);
    }
    case ptx::ShuffleMode::none:
      break;
  }
  return from(lane, false);
}

// Calls visit(lane, from) for each executing lane that a shuffle gives the value of a lane with another mask, of one
// that its own mask does not name, or of one that does not execute it, because it has ended. Such a value is undefined.
template <class Visit>
void for_each_stranger(const Warp& warp, const Op* op, Visit&& visit) {
  const std::uint32_t* b = warp.lanes<std::uint32_t>(op->s[3]);
  const std::uint32_t* c = warp.lanes<std::uint32_t>(op->s[4]);
  const std::uint32_t* masks = warp.lanes<std::uint32_t>(op->s[5]);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const int from = shuffle_source(op->instruction->shuffle, lane, b[lane], c[lane]).lane;
    const bool runs = (warp.mask >> from & 1u) != 0;
    if ((masks[lane] >> from & 1u) == 0 || !runs || masks[from] != masks[lane]) visit(lane, from);
  }
}

// Tells the sanitizer that the lanes of each mask synchronize, or only exchange values. False, with a fault recorded,
// if a mask names an absent thread or omits the thread that uses it; `what` is the instruction's name in the source.
bool meet_members(Launch& launch, const Warp& warp, const Op* op, Slot masks, const char* what, bool exchange = true);

// The same for an exchange of values, which only those lanes execute that are here. False also if the executing lanes
// must wait for lanes that may yet end (divergent_syncwarp.h). `next`: where the warp continues then; after a fault,
// nullptr.
bool meet_to_exchange(Launch& launch, Warp& warp, const Op* op, Slot masks, const char* what, const Op*& next);

// Records the fault that the mask of a lane names threads (`missing`) that took another way.
void stop_without_members(Launch& launch, const Warp& warp, const Op* op, int lane, std::uint32_t mask,
                          std::uint32_t missing, const char* what);

// Whether all 32 threads execute, as matrix instructions require. False if a fault was recorded.
bool all_threads(Launch& launch, const Warp& warp, const Op* op);

}  // namespace roofwalk::vgpu
