// Handlers of exchanges within a warp (redux, match) and of queries (isspacep, clocks).
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/exec/divergent_barrier.h"
#include "common/vgpu/exec/divergent_syncwarp.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/sanitizer/checked_access.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

using ptx::AtomicOp;
using ptx::Space;
using ptx::SpecialRegister;
using ptx::VoteMode;

template <class T>
T reduce(AtomicOp operation, T a, T b) {
  switch (operation) {
    case AtomicOp::add:
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    case AtomicOp::min:
      return std::min(a, b);
    case AtomicOp::max:
      return std::max(a, b);
    case AtomicOp::and_:
      return static_cast<T>(a & b);
    case AtomicOp::or_:
      return static_cast<T>(a | b);
    default:
      return static_cast<T>(a ^ b);
  }
}

template <class T>
const Op* op_warp_reduce(Launch& launch, Warp& warp, const Op* op) {
  const Op* next = nullptr;
  if (!meet_to_exchange(launch, warp, op, op->s[2], "__reduce_..._sync()", next)) return next;
  const T* a = warp.lanes<T>(op->s[1]);
  T out[kWarpSize] = {};
  for_each_group(warp, warp.lanes<std::uint32_t>(op->s[2]), [&](std::uint32_t lanes) {
    T value = a[std::countr_zero(lanes)];
    for (std::uint32_t left = lanes & (lanes - 1); left != 0; left &= left - 1) {
      value = reduce(op->instruction->atomic, value, a[std::countr_zero(left)]);
    }
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) out[std::countr_zero(left)] = value;
  });
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return out[l]; });
  return op + 1;
}

// match.any returns the lanes that have the same value; match.all returns all lanes if their values are equal, else
// none.
template <class T>
const Op* op_warp_match(Launch& launch, Warp& warp, const Op* op) {
  const Op* next = nullptr;
  if (!meet_to_exchange(launch, warp, op, op->s[3], "__match_..._sync()", next)) return next;
  const T* a = warp.lanes<T>(op->s[2]);
  std::uint32_t out[kWarpSize] = {}, whole = 0;
  for_each_group(warp, warp.lanes<std::uint32_t>(op->s[3]), [&](std::uint32_t lanes) {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const std::uint32_t same = lane_bits([&](int l) { return a[l] == a[lane]; }) & lanes;
      if (same == lanes) whole |= 1u << lane;
      out[lane] = op->instruction->vote == VoteMode::any || same == lanes ? same : 0u;
    }
  });
  if (op->s[0] != kNoSlot) for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) { return out[l]; });
  if (op->s[1] != kNoSlot) set_predicate(warp.predicate(op->s[1]), warp.mask, whole);
  return op + 1;
}

// Whether an address is in the generic window of `space`.
template <Space space>
const Op* op_space_query(Launch&, Warp& warp, const Op* op) {
  const std::uint64_t* a = warp.lanes<std::uint64_t>(op->s[1]);
  const auto in_window = [](std::uint64_t address, std::uint64_t window) { return address - window < kWindowBytes; };
  set_predicate(warp.predicate(op->s[0]), warp.mask, lane_bits([&](int l) {
                  const bool shared = in_window(a[l], kSharedWindow), local = in_window(a[l], kLocalWindow);
                  const bool constant = a[l] >= Memory::kConstantBase && a[l] < Memory::kConstantEnd;
                  if constexpr (space == Space::shared) return shared;
                  if constexpr (space == Space::local) return local;
                  if constexpr (space == Space::constant) return constant;
                  if constexpr (space == Space::global) return !shared && !local && !constant;
                  return false;
                }));
  return op + 1;
}

// The time of a warp within its block is its own (PathSums::clock()), because it is what loops that wait for a time go
// by: libcu++'s waits sleep for a share of the time that they have waited. Only where its block begins is told by the
// instructions of all blocks; so is all time in runs that count nothing. Instructions or latencies of the current basic
// block were added on entry, so the share of this instruction and those after it is deducted.
std::uint64_t clock_of(const Launch& launch, const Warp& warp, const Op* op) {
  const BasicBlock& block = launch.program.blocks[op->block];
  const std::uint64_t done = op->pc - block.first;
  if (!launch.counts) return launch.clock - block.count + done;
  const auto latency = static_cast<std::uint64_t>(first_op_of(launch.program, warp.in_lockstep, op->block)->offset);
  return warp.block->begun_at + warp.path.clock() - latency + latency * done / block.count;
}

// `in_ns`: nanoseconds instead of cycles.
template <class T, int shift, bool in_ns>
const Op* op_clock(Launch& launch, Warp& warp, const Op* op) {
  std::uint64_t now = clock_of(launch, warp, op);
  if constexpr (in_ns) now = static_cast<std::uint64_t>(static_cast<double>(now) * 1e9 / launch.machine.clock_hz);
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int) { return static_cast<T>(now >> shift); });
  return op + 1;
}

}  // namespace

bool all_threads(Launch& launch, const Warp& warp, const Op* op) {
  if (warp.mask == kAllLanes) return true;
  launch.stop(warp, op, FaultKind::barrier_deadlock, -1,
              fmt::format("{} reached by only {} threads of the warp: all 32 must execute it together",
                          ptx::info(op->instruction->opcode).mnemonic, std::popcount(warp.mask)));
  return false;
}

void stop_without_members(Launch& launch, const Warp& warp, const Op* op, int lane, std::uint32_t mask,
                          std::uint32_t missing, const char* what) {
  const Dim3 other = launch.thread_of(warp.index * kWarpSize + static_cast<std::uint32_t>(std::countr_zero(missing)));
  launch.stop(warp, op, FaultKind::barrier_deadlock, lane,
              fmt::format("barrier divergence: the mask 0x{:x} of {} names thread ({}, {}, {}), which took another way "
                          "and is not here: let all threads of the mask come here, or name fewer",
                          mask, what, other.x, other.y, other.z));
}

bool meet_members(Launch& launch, const Warp& warp, const Op* op, Slot masks_at, const char* what, bool exchange) {
  // Checks masks in sanitized runs, and in all runs if lanes stand in front of a barrier: these lanes never arrive
  // here.
  if (!launch.sanitized && warp.standing.empty()) return true;
  if (!warp.standing.empty()) launch.charge(work::kStanding);
  const std::uint32_t leaving = warp.mask == warp.live ? 0 : leaving_lanes(launch.program, warp);
  // Lanes that went ahead of others at a __syncwarp() must not end without them.
  const std::uint32_t ended = exchange || !launch.sanitized ? 0u : warp.let_ahead & ~warp.live;
  const std::uint32_t* masks = warp.lanes<std::uint32_t>(masks_at);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if ((masks[lane] >> lane & 1u) == 0) {
      launch.stop(warp, op, FaultKind::barrier_deadlock, lane,
                  fmt::format("barrier divergence: the mask 0x{:x} of {} leaves out the thread that executes it: name "
                              "every thread that comes here, and no other",
                              masks[lane], what));
      return false;
    }
    const std::uint32_t missing = masks[lane] & ((warp.live & ~warp.mask & ~leaving) | ended);
    if (missing == 0) continue;
    stop_without_members(launch, warp, op, lane, masks[lane], missing, what);
    return false;
  }
  if (warp.block->shadow != nullptr) {
    for_each_group(warp, masks,
                   [&](std::uint32_t lanes) { warp.block->shadow->meet_in_warp(warp.index, lanes, exchange); });
    charge_for_clocks(launch, warp);
  }
  return true;
}

bool meet_to_exchange(Launch& launch, Warp& warp, const Op* op, Slot masks, const char* what, const Op*& next) {
  next = nullptr;
  if (warp.mask != warp.live && std::exchange(warp.unmet, nullptr) != op && op->guard == kNoSlot &&
      misses_members(warp, warp.lanes<std::uint32_t>(masks))) {
    const std::uint32_t expected = warp.live & ~warp.mask & ~leaving_lanes(launch.program, warp);
    if (named_of(warp, warp.mask, masks, expected) != 0) {
      launch.charge(work::kStanding);
      next = wait_in_warp(launch, warp, op, MeetingLanes::Kind::exchange, masks, what);
      return false;
    }
  }
  return meet_members(launch, warp, op, masks, what);
}

Handler warp_reduce_handler(const ptx::Instruction& in) {
  return in.type == ptx::Type::s32 ? op_warp_reduce<std::int32_t> : op_warp_reduce<std::uint32_t>;
}

Handler warp_match_handler(const ptx::Instruction& in) {
  return in.type == ptx::Type::b64 ? op_warp_match<std::uint64_t> : op_warp_match<std::uint32_t>;
}

Handler space_query_handler(const ptx::Instruction& in) {
  switch (in.space) {
    case Space::shared:
      return op_space_query<Space::shared>;
    case Space::local:
      return op_space_query<Space::local>;
    case Space::constant:
      return op_space_query<Space::constant>;
    case Space::global:
      return op_space_query<Space::global>;
    case Space::param:
    case Space::generic:
      return op_space_query<Space::param>;
  }
  return nullptr;
}

Handler clock_handler(SpecialRegister special, int size_bytes) {
  switch (special) {
    case SpecialRegister::clock:
    case SpecialRegister::clock64:
      return size_bytes == 8 ? op_clock<std::uint64_t, 0, false> : op_clock<std::uint32_t, 0, false>;
    case SpecialRegister::globaltimer:
    case SpecialRegister::globaltimer_lo:
      return size_bytes == 8 ? op_clock<std::uint64_t, 0, true> : op_clock<std::uint32_t, 0, true>;
    case SpecialRegister::clock_hi:
      return op_clock<std::uint32_t, 32, false>;
    case SpecialRegister::globaltimer_hi:
      return op_clock<std::uint32_t, 32, true>;
    default:
      return nullptr;
  }
}

}  // namespace roofwalk::vgpu
