// Handlers that move and select values, and exchange them between lanes.
#include <array>
#include <bit>
#include <cstring>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/requests/lanes.h"

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

ShuffledLanes shuffled_lanes(const Warp& warp, const Op* op) {
  const std::uint32_t* b = warp.lanes<std::uint32_t>(op->s[3]);
  const std::uint32_t* c = warp.lanes<std::uint32_t>(op->s[4]);
  ShuffledLanes out;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const int clamp = static_cast<int>(c[lane] & 31u), segment = static_cast<int>(c[lane] >> 8 & 31u);
    const int delta = static_cast<int>(b[lane] & 31u);
    const int lowest = lane & segment, highest = lowest | (clamp & ~segment);
    int from = lane;
    bool valid = false;
    switch (op->instruction->shuffle) {
      case ShuffleMode::up:
        from = lane - delta, valid = from >= highest;
        break;
      case ShuffleMode::down:
        from = lane + delta, valid = from <= highest;
        break;
      case ShuffleMode::bfly:
        from = lane ^ delta, valid = from <= highest;
        break;
      case ShuffleMode::idx:
        from = lowest | (delta & ~segment), valid = from <= highest;
        break;
      case ShuffleMode::none:
        break;
    }
    out.from[static_cast<std::size_t>(lane)] = valid ? from : lane;
    if (valid) out.in_range |= 1u << lane;
  }
  return out;
}

namespace {

// Marks what lanes read from others with which they do not exchange, as these have other masks: it is undefined.
const Op* mark_strangers(Launch& launch, Warp& warp, const Op* op, const ShuffledLanes& shuffled) {
  const std::uint32_t* masks = warp.lanes<std::uint32_t>(op->s[5]);
  std::array<std::uint64_t, kWarpSize> offset{};
  std::uint32_t strangers = 0;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left), from = shuffled.from[static_cast<std::size_t>(lane)];
    const std::uint32_t mask = masks[lane];
    if ((mask >> from & 1u) != 0 && ((warp.mask >> from & 1u) == 0 || masks[from] == mask)) continue;
    strangers |= 1u << lane;
    offset[static_cast<std::size_t>(lane)] = std::uint64_t{mask} << 32 | static_cast<std::uint64_t>(from);
  }
  return mark_shuffled(launch, warp, op, strangers, offset, op + 1);
}

}  // namespace

const Op* op_shuffle(Launch& launch, Warp& warp, const Op* op) {
  const Op* next = nullptr;
  if (!meet_to_exchange(launch, warp, op, op->s[5], "__shfl_..._sync()", next)) return next;
  std::array<std::uint32_t, kWarpSize> values;
  std::memcpy(values.data(), warp.lanes<std::uint32_t>(op->s[2]), sizeof values);
  const ShuffledLanes shuffled = shuffled_lanes(warp, op);
  if (op->s[0] != kNoSlot) {
    for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask,
              [&](int l) { return values[static_cast<std::size_t>(shuffled.from[static_cast<std::size_t>(l)])]; });
  }
  if (op->s[1] != kNoSlot) set_predicate(warp.predicate(op->s[1]), warp.mask, shuffled.in_range);
  return launch.sanitized ? mark_strangers(launch, warp, op, shuffled) : op + 1;
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
