// Handlers of lockstep code: filling lanes, leaving and entering lockstep, loads and stores whose address is kept as
// one number.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "common/vgpu/exec/lockstep/load_fast_path.h"
#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/memory_moves.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/sanitizer/checked_access.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Space;

template <class T>
void fill(T* lanes, const LaneOffsets& offsets) {
  const T first = lanes[0];
  for (std::size_t l = 0; l < kWarpSize; ++l) lanes[l] = static_cast<T>(first + static_cast<T>(offsets.of_lane[l]));
}

template <class T>
bool holds(const T* lanes, const LaneOffsets& offsets) {
  T differs = 0;
  for (std::size_t l = 0; l < kWarpSize; ++l) {
    differs = static_cast<T>(differs | (lanes[l] ^ static_cast<T>(lanes[0] + static_cast<T>(offsets.of_lane[l]))));
  }
  return differs == 0;
}

void fill(Warp& warp, const LockstepRegister& reg, const LaneOffsets& offsets) {
  switch (reg.bytes) {
    case 2:
      return fill(warp.lanes<std::uint16_t>(reg.slot), offsets);
    case 4:
      return fill(warp.lanes<std::uint32_t>(reg.slot), offsets);
    default:
      return fill(warp.lanes<std::uint64_t>(reg.slot), offsets);
  }
}

bool holds(const Warp& warp, const LockstepRegister& reg, const LaneOffsets& offsets) {
  switch (reg.bytes) {
    case 0: {
      const std::uint32_t predicate = warp.predicate(reg.slot);
      return predicate == 0 || predicate == kAllLanes;
    }
    case 2:
      return holds(warp.lanes<std::uint16_t>(reg.slot), offsets);
    case 4:
      return holds(warp.lanes<std::uint32_t>(reg.slot), offsets);
    default:
      return holds(warp.lanes<std::uint64_t>(reg.slot), offsets);
  }
}

template <class T, bool uniform>
const Op* op_fill(Launch& launch, Warp& warp, const Op* op) {
  T* const lanes = warp.lanes<T>(op->s[0]);
  if constexpr (uniform) {
    const T value = lanes[0];
    for (int l = 0; l < kWarpSize; ++l) lanes[l] = value;
  } else {
    fill(lanes, launch.program.lockstep.lane_offsets[op->lane_offsets]);
  }
  return op + 1;
}

template <class T>
const Op* op_check(Launch& launch, Warp& warp, const Op* op) {
  const LockstepCode& code = launch.program.lockstep;
  const LaneOffsets& offsets = code.lane_offsets[op->lane_offsets];
  const std::int64_t first = *warp.lanes<T>(op->s[1]);
  if (first + offsets.low >= std::numeric_limits<T>::min() && first + offsets.high <= std::numeric_limits<T>::max())
    return op + 1;
  come_apart(launch, warp, code.at_checks[static_cast<std::size_t>(op->offset)]);
  return &launch.program.ops[op->target];
}

// Like make_access(), but computes all addresses from lane 0's.
void make_access_from_lane_0(const Launch& launch, const Warp& warp, const Op* op, std::uint32_t bytes, Access& out) {
  const LaneOffsets& offsets = launch.program.lockstep.lane_offsets[op->lane_offsets];
  const std::uint64_t first = first_address(warp, op);
  const std::uint64_t low = first + static_cast<std::uint64_t>(offsets.low);
  const std::uint64_t high = first + static_cast<std::uint64_t>(offsets.high);
  const bool narrow = op->s[4] != kNoSlot && op->count == 4;
  const bool wraps = low > first || high < first || (narrow && high > ~0u);
  constexpr std::int64_t kFar = 1ll << 32;
  if (warp.mask == kAllLanes && offsets.even && !wraps && offsets.high < kFar && offsets.low > -kFar) {
    out.mask = kAllLanes;
    out.bytes = bytes;
    out.implied = true;
    out.first = first;
    out.stride = offsets.stride;
    out.bits = first | offsets.stride;
    out.low = low;
    out.high = high;
    out.uniform = offsets.stride == 0;
    out.contiguous = offsets.stride == bytes;
    return;
  }
  // The register may store lane 0 only, so each lane's address is computed from the offsets.
  alignas(64) std::uint64_t lanes[kWarpSize];
  for (std::size_t l = 0; l < kWarpSize; ++l) {
    lanes[l] = first + offsets.of_lane[l];
    if (narrow) lanes[l] &= ~0u;
  }
  make_access(lanes, warp.mask, bytes, out);
}

template <class R, class M, int vector>
const Op* op_load_global(Launch& launch, Warp& warp, const Op* op) {
  constexpr std::uint32_t kBytes = sizeof(M) * vector;
  Access access;
  Pointers at;
  LaneBytes data;
  make_access_from_lane_0(launch, warp, op, kBytes, access);
  pass_by_load(launch, warp, op, access);
  if (!begin_load(launch, warp, op, access, at, data)) return nullptr;
  move_in<R, M, vector>(warp, op, access, at);
  return detour_if_unset(warp, after_memory(launch, warp, op));
}

// Loads from one address for all lanes.
template <class R, class M, int vector, bool all_lanes>
const Op* op_load_uniform(Launch& launch, Warp& warp, const Op* op) {
  const std::uint8_t* const from = find_uniform<sizeof(M) * vector>(launch, warp, op);
  if (from == nullptr) return op_load_global<R, M, vector>(launch, warp, op);
  for (int part = 0; part < vector; ++part) {
    if (op->s[part] == kNoSlot) continue;
    const R value = extend<R, M>(from + static_cast<std::size_t>(part) * sizeof(M));
    R* const d = warp.lanes<R>(op->s[part]);
    if constexpr (all_lanes) {
      for_lanes(d, kAllLanes, [&](int) { return value; });
    } else {
      d[0] = value;
    }
  }
  return after_memory(launch, warp, op);
}

// Loads from adjacent addresses.
template <class R, class M, int vector>
const Op* op_load_contiguous(Launch& launch, Warp& warp, const Op* op) {
  constexpr std::uint32_t kBytes = sizeof(M) * vector;
  const std::uint8_t* const from = find_contiguous<kBytes>(launch, warp, op);
  if (from == nullptr) return op_load_global<R, M, vector>(launch, warp, op);
  for (int part = 0; part < vector; ++part) {
    if (op->s[part] == kNoSlot) continue;
    R* const d = warp.lanes<R>(op->s[part]);
    if constexpr (vector == 1 && sizeof(R) == sizeof(M)) {
      std::memcpy(d, from, kWarpSize * sizeof(M));
    } else {
      for_lanes(d, kAllLanes, [&](int l) {
        return extend<R, M>(from + static_cast<std::size_t>(l) * kBytes + static_cast<std::size_t>(part) * sizeof(M));
      });
    }
  }
  return after_memory(launch, warp, op);
}

// Loads rows of a tile, a word per lane: each group of eight lanes reads one sector.
const Op* op_load_eights(Launch& launch, Warp& warp, const Op* op) {
  const std::uint8_t* const from = op->s[0] == kNoSlot ? nullptr : find_eights(launch, warp, op);
  if (from == nullptr) return op_load_global<std::uint32_t, std::uint32_t, 1>(launch, warp, op);
  const LaneOffsets& offsets = launch.program.lockstep.lane_offsets[op->lane_offsets];
  auto* const lanes = warp.lanes<std::uint32_t>(op->s[0]);
  for (std::size_t l = 0; l < kWarpSize; l += 8) std::memcpy(lanes + l, from + offsets.of_lane[l], kSectorBytes);
  return after_memory(launch, warp, op);
}

// Loads a word from each of 32 rows: the same offset in 32 lines.
const Op* op_load_rows(Launch& launch, Warp& warp, const Op* op) {
  const std::uint8_t* const words = op->s[0] == kNoSlot ? nullptr : find_rows(launch, warp, op);
  if (words == nullptr) return op_load_global<std::uint32_t, std::uint32_t, 1>(launch, warp, op);
  std::memcpy(warp.lanes<std::uint32_t>(op->s[0]), words, kWarpSize * sizeof(std::uint32_t));
  return after_memory(launch, warp, op);
}

template <class R, class M, int vector>
const Op* op_store_global(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  make_access_from_lane_0(launch, warp, op, sizeof(M) * vector, access);
  pass_by_store(launch, warp, op, access);
  return store_global(launch, warp, op, access,
                      [&](const Access& to, const Pointers& at) { move_out<R, M, vector>(warp, op, to, at); });
}

// Accesses shared memory lane by lane; finds the lane that faults.
template <bool store>
[[gnu::noinline]] const Op* access_shared_by_lane(Launch& launch, Warp& warp, const Op* op, std::uint32_t bytes,
                                                  Mover move) {
  Access access;
  make_access_from_lane_0(launch, warp, op, bytes, access);
  access.spell_out();
  Pointers at;
  if (!resolve_shared(launch, warp, op, access, store ? "writes" : "reads", at)) return nullptr;
  count_shared(launch, warp, op, access, store ? SharedUse::store : SharedUse::load);
  if (warp.mask == kAllLanes && launch.program.shared_access(op->pc).iterations == 1) {
    SharedMemo& memo = launch.shared_memos[op->pc];
    memo.lockstep_known = true;
    memo.lockstep_bytes = kWarpSize * bytes;
    memo.lockstep_wavefronts = memo.wavefronts;
    memo.lockstep_conflicts = memo.conflicts;
  }
  if (is_watched(launch, warp)) return move_checked<store>(launch, warp, op, access, at, move);
  move(warp, op, access, at);
  return op + 1;
}

// Accesses shared memory: at once if the access is in bounds, aligned and in no conflict with another thread's.
template <class R, class M, int vector, bool store>
const Op* op_shared(Launch& launch, Warp& warp, const Op* op) {
  constexpr std::uint32_t kBytes = sizeof(M) * vector;
  const LaneOffsets& offsets = launch.program.lockstep.lane_offsets[op->lane_offsets];
  const std::uint64_t first = first_address(warp, op);
  if (!is_usual_in_shared(launch, warp, op, offsets, first, kBytes) ||
      (is_watched(launch, warp) &&
       ((store && warp.unset != nullptr) ||
        !touches_in_order(launch, warp, op, first, offsets, kBytes, store ? SharedTouch::write : SharedTouch::read)))) {
    constexpr Mover kMove = store ? move_out<R, M, vector> : move_in<R, M, vector>;
    return access_shared_by_lane<store>(launch, warp, op, kBytes, kMove);
  }
  add_lockstep_wavefronts(launch, warp, *op);
  std::uint8_t* const base = warp.block->shared.data() + first;
  for (int part = 0; part < vector; ++part) {
    std::uint8_t* const at = base + static_cast<std::size_t>(part) * sizeof(M);
    if (op->s[part] == kNoSlot) continue;
    R* const lanes = warp.lanes<R>(op->s[part]);
    const bool eights = offsets.even_eights && vector == 1 && sizeof(R) == sizeof(M);
    if (eights && offsets.stride_of_eights == kBytes) {
      for (std::size_t l = 0; l < kWarpSize; l += 8) {
        if constexpr (store)
          std::memcpy(at + static_cast<std::int64_t>(offsets.of_lane[l]), lanes + l, 8 * sizeof(M));
        else
          std::memcpy(lanes + l, at + static_cast<std::int64_t>(offsets.of_lane[l]), 8 * sizeof(M));
      }
    } else if constexpr (store) {
      for (std::size_t l = 0; l < kWarpSize; ++l) {
        const M value = static_cast<M>(lanes[l]);
        std::memcpy(at + static_cast<std::int64_t>(offsets.of_lane[l]), &value, sizeof value);
      }
    } else if (offsets.even_eights && offsets.stride_of_eights == 0) {
      for (std::size_t l = 0; l < kWarpSize; l += 8) {
        const R value = extend<R, M>(at + static_cast<std::int64_t>(offsets.of_lane[l]));
        for (std::size_t i = 0; i < 8; ++i) lanes[l + i] = value;
      }
    } else {
      for_lanes(lanes, kAllLanes, [&](int l) {
        return extend<R, M>(at + static_cast<std::int64_t>(offsets.of_lane[static_cast<std::size_t>(l)]));
      });
    }
  }
  return op + 1;
}

enum class Addresses { uniform_lane_0, uniform, contiguous, rows, eights, other };

template <Addresses addresses>
struct LockstepLoads {
  template <class R, class M, int vector>
  struct Of {
    static Handler in(Space space) {
      if (space == Space::shared) return op_shared<R, M, vector, false>;
      constexpr bool kOneWord = vector == 1 && sizeof(M) == 4 && sizeof(R) == 4;
      switch (addresses) {
        case Addresses::uniform_lane_0:
          return op_load_uniform<R, M, vector, false>;
        case Addresses::uniform:
          return op_load_uniform<R, M, vector, true>;
        case Addresses::contiguous:
          return op_load_contiguous<R, M, vector>;
        case Addresses::rows:
          return kOneWord ? op_load_rows : op_load_global<R, M, vector>;
        case Addresses::eights:
          return kOneWord ? op_load_eights : op_load_global<R, M, vector>;
        case Addresses::other:
          return op_load_global<R, M, vector>;
      }
      return nullptr;
    }
  };
};

template <class R, class M, int vector>
struct LockstepStores {
  static Handler in(Space space) {
    return space == Space::shared ? op_shared<R, M, vector, true> : op_store_global<R, M, vector>;
  }
};

// Whether each group of eight lanes loads one whole sector, `bytes` per lane, provided that lane 0's address starts a
// sector.
bool has_whole_sectors(const LaneOffsets& offsets, std::uint64_t bytes) {
  bool whole = offsets.even_eights && offsets.stride_of_eights == bytes && bytes == 4;
  for (std::size_t l = 0; l < kWarpSize; l += 8) whole &= offsets.of_lane[l] % kSectorBytes == 0;
  return whole;
}

}  // namespace

void come_apart(const Launch& launch, Warp& warp, const std::vector<LockstepRegister>& registers) {
  warp.in_lockstep = false;
  if (warp.executed - warp.together_since < kSoon) ++warp.times_diverged;
  for (const LockstepRegister& reg : registers) fill(warp, reg, launch.program.lockstep.lane_offsets[reg.lane_offsets]);
}

bool come_together(const Launch& launch, Warp& warp, std::uint32_t block) {
  if (warp.mask != kAllLanes || warp.times_diverged >= kMostPartings) return false;
  const LockstepCode& code = launch.program.lockstep;
  for (const LockstepRegister& reg : code.entering[block]) {
    if (holds(warp, reg, code.lane_offsets[reg.lane_offsets])) continue;
    ++warp.times_diverged;
    return false;
  }
  warp.in_lockstep = true;
  warp.together_since = warp.executed;
  return true;
}

Handler fill_handler(std::uint32_t bytes, std::uint32_t offsets) {
  switch (bytes) {
    case 2:
      return offsets == 0 ? op_fill<std::uint16_t, true> : op_fill<std::uint16_t, false>;
    case 4:
      return offsets == 0 ? op_fill<std::uint32_t, true> : op_fill<std::uint32_t, false>;
    default:
      return offsets == 0 ? op_fill<std::uint64_t, true> : op_fill<std::uint64_t, false>;
  }
}

Handler check_handler(bool is_signed) { return is_signed ? op_check<std::int32_t> : op_check<std::uint32_t>; }

Handler lockstep_load_handler(const Op& op, int register_bytes, const LaneOffsets& offsets, bool all_lanes) {
  const Instruction& in = *op.instruction;
  const auto bytes = static_cast<std::uint64_t>(std::max(ptx::size_bytes(in.type), 1)) * in.vector;
  if (op.past_l1) return by_form<LockstepLoads<Addresses::other>::Of>(in, register_bytes);
  if (offsets.even && offsets.stride == 0) {
    return all_lanes ? by_form<LockstepLoads<Addresses::uniform>::Of>(in, register_bytes)
                     : by_form<LockstepLoads<Addresses::uniform_lane_0>::Of>(in, register_bytes);
  }
  if (offsets.even && offsets.stride == bytes)
    return by_form<LockstepLoads<Addresses::contiguous>::Of>(in, register_bytes);
  if (offsets.even && offsets.stride % kLineBytes == 0 && static_cast<std::int64_t>(offsets.stride) > 0)
    return by_form<LockstepLoads<Addresses::rows>::Of>(in, register_bytes);
  if (has_whole_sectors(offsets, bytes)) return by_form<LockstepLoads<Addresses::eights>::Of>(in, register_bytes);
  return by_form<LockstepLoads<Addresses::other>::Of>(in, register_bytes);
}

Handler lockstep_store_handler(const Instruction& in, int register_bytes) {
  return by_size<LockstepStores>(in, register_bytes);
}

}  // namespace roofwalk::vgpu
