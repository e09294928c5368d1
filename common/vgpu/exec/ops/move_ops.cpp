// Handlers that move and select values, and exchange them between lanes.
#include <array>
#include <cstring>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/requests/unset_loads.h"

namespace roofwalk::vgpu {
namespace {

using ptx::ShuffleMode;
using ptx::VoteMode;

template <class T>
const Op* op_move(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return a[l]; });
  return op + 1;
}

const Op* op_move_predicate(Launch&, Warp& warp, const Op* op) {
  set_predicate(warp.predicate(op->s[0]), warp.mask, warp.predicate(op->s[1]));
  return op + 1;
}

template <class Whole, class Part, int parts>
const Op* op_pack(Launch&, Warp& warp, const Op* op) {
  for_lanes(warp.lanes<Whole>(op->s[0]), warp.mask, [&](int l) {
    Whole value = 0;
    for (int i = parts - 1; i >= 0; --i) {
      value = static_cast<Whole>(value << (8 * sizeof(Part) - 1) << 1 | warp.lanes<Part>(op->s[1 + i])[l]);
    }
    return value;
  });
  return op + 1;
}

template <class Whole, class Part, int parts>
const Op* op_unpack(Launch&, Warp& warp, const Op* op) {
  // The source may be one of the results, so it is read completely before a result is written.
  std::array<Whole, kWarpSize> whole;
  std::memcpy(whole.data(), warp.lanes<Whole>(op->s[parts]), sizeof whole);
  for (int i = 0; i < parts; ++i) {
    if (op->s[i] == kNoSlot) continue;
    for_lanes(warp.lanes<Part>(op->s[i]), warp.mask,
              [&](int l) { return static_cast<Part>(whole[l] >> (8 * sizeof(Part) * i)); });
  }
  return op + 1;
}

template <class T>
const Op* op_select(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const T* b = warp.lanes<T>(op->s[2]);
  const std::uint32_t predicate = warp.predicate(op->s[3]);
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return (predicate >> l & 1u) != 0 ? a[l] : b[l]; });
  return op + 1;
}

template <class T>
const Op* op_add_offset(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const auto offset = static_cast<T>(op->offset);
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return a[l] + offset; });
  return op + 1;
}

// Variants of op_move, op_select and op_add_offset for lane 0 only.
template <class T>
const Op* op_move_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<T>(op->s[0]) = *warp.lanes<T>(op->s[1]);
  return op + 1;
}
template <class T>
const Op* op_select_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<T>(op->s[0]) = *warp.lanes<T>((warp.predicate(op->s[3]) & 1u) != 0 ? op->s[1] : op->s[2]);
  return op + 1;
}
template <class T>
const Op* op_add_offset_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<T>(op->s[0]) = *warp.lanes<T>(op->s[1]) + static_cast<T>(op->offset);
  return op + 1;
}

}  // namespace

Handler move_handler(int size_bytes) {
  switch (size_bytes) {
    case 0:
      return op_move_predicate;
    case 2:
      return op_move<std::uint16_t>;
    case 4:
      return op_move<std::uint32_t>;
    case 8:
      return op_move<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler pack_handler(int parts, int part_bytes) {
  if (parts == 2 && part_bytes == 2) return op_pack<std::uint32_t, std::uint16_t, 2>;
  if (parts == 2 && part_bytes == 4) return op_pack<std::uint64_t, std::uint32_t, 2>;
  if (parts == 4 && part_bytes == 2) return op_pack<std::uint64_t, std::uint16_t, 4>;
  return nullptr;
}

Handler unpack_handler(int parts, int part_bytes) {
  if (parts == 2 && part_bytes == 2) return op_unpack<std::uint32_t, std::uint16_t, 2>;
  if (parts == 2 && part_bytes == 4) return op_unpack<std::uint64_t, std::uint32_t, 2>;
  if (parts == 4 && part_bytes == 2) return op_unpack<std::uint64_t, std::uint16_t, 4>;
  return nullptr;
}

Handler select_handler(int size_bytes) {
  switch (size_bytes) {
    case 2:
      return op_select<std::uint16_t>;
    case 4:
      return op_select<std::uint32_t>;
    case 8:
      return op_select<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler add_offset_handler(int size_bytes) {
  return size_bytes == 8 ? op_add_offset<std::uint64_t> : size_bytes == 4 ? op_add_offset<std::uint32_t> : nullptr;
}

Handler move_handler_of_lane_0(int size_bytes) {
  switch (size_bytes) {
    case 2:
      return op_move_of_lane_0<std::uint16_t>;
    case 4:
      return op_move_of_lane_0<std::uint32_t>;
    case 8:
      return op_move_of_lane_0<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler select_handler_of_lane_0(int size_bytes) {
  switch (size_bytes) {
    case 2:
      return op_select_of_lane_0<std::uint16_t>;
    case 4:
      return op_select_of_lane_0<std::uint32_t>;
    case 8:
      return op_select_of_lane_0<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler add_offset_handler_of_lane_0(int size_bytes) {
  return size_bytes == 8 ? op_add_offset_of_lane_0<std::uint64_t> : nullptr;
}

// Marks what a shuffle gives lanes from others with other masks, or that have ended.
static void mark_strangers(const Launch& launch, Warp& warp, const Op* op) {
  const int reg = op->instruction->operands[0].index;
  if (reg < 0) return;
  for_each_stranger(warp, op, [&](int lane, int from) {
    const std::uint32_t mask = warp.lanes<std::uint32_t>(op->s[5])[lane];
    unset_values(launch, warp)
        .registers[reg]
        .put(lane, all_bits(sizeof(std::uint32_t)), origin_of_shuffled(warp, op, lane, from, mask));
  });
}

const Op* op_shuffle(Launch& launch, Warp& warp, const Op* op) {
  const Op* next = nullptr;
  if (!meet_to_exchange(launch, warp, op, op->s[5], "__shfl_..._sync()", next)) return next;
  // Before the results are written, because they may take the place of the sources.
  if (launch.sanitized) mark_strangers(launch, warp, op);
  std::array<std::uint32_t, kWarpSize> values;
  std::memcpy(values.data(), warp.lanes<std::uint32_t>(op->s[2]), sizeof values);
  const std::uint32_t* b = warp.lanes<std::uint32_t>(op->s[3]);
  const std::uint32_t* c = warp.lanes<std::uint32_t>(op->s[4]);
  std::array<std::uint32_t, kWarpSize> out = values;
  std::uint32_t in_range = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto [from, is_in_range] = shuffle_source(op->instruction->shuffle, lane, b[lane], c[lane]);
    if (is_in_range) in_range |= 1u << lane, out[lane] = values[from];
  }
  if (op->s[0] != kNoSlot) {
    for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) { return out[l]; });
  }
  if (op->s[1] != kNoSlot) set_predicate(warp.predicate(op->s[1]), warp.mask, in_range);
  return detour_if_unset(warp, op + 1);
}

const Op* op_vote(Launch& launch, Warp& warp, const Op* op) {
  const Op* next = nullptr;
  if (!meet_to_exchange(launch, warp, op, op->s[2], "the vote", next)) return next;
  const std::uint32_t holds = warp.predicate(op->s[1]) ^ (op->offset != 0 ? kAllLanes : 0u);
  for_each_group(warp, warp.lanes<std::uint32_t>(op->s[2]), [&](std::uint32_t members) {
    const std::uint32_t bits = holds & members;
    switch (op->instruction->vote) {
      case VoteMode::ballot:
        for_lanes(warp.lanes<std::uint32_t>(op->s[0]), members, [&](int) { return bits; });
        break;
      case VoteMode::all:
        set_predicate(warp.predicate(op->s[0]), members, bits == members ? kAllLanes : 0u);
        break;
      case VoteMode::any:
        set_predicate(warp.predicate(op->s[0]), members, bits != 0 ? kAllLanes : 0u);
        break;
      case VoteMode::uni:
        set_predicate(warp.predicate(op->s[0]), members, bits == members || bits == 0 ? kAllLanes : 0u);
        break;
      case VoteMode::none:
        break;
    }
  });
  return op + 1;
}

const Op* op_active_mask(Launch&, Warp& warp, const Op* op) {
  const std::uint32_t mask = warp.mask;
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), mask, [&](int) { return mask; });
  return op + 1;
}

}  // namespace roofwalk::vgpu
