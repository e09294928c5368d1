// How handlers report accesses to shared memory to the race detector of their block, if it is watched.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/vgpu/requests/local_memory.h"
#include "common/vgpu/requests/memory_moves.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/sanitizer/race_detector.h"

namespace roofwalk::vgpu {

// race_report.cpp. Calls RaceDetector::touch for the warp's block, if it is watched. False if a fault was recorded.
bool check_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedTouch touch,
                  const SharedWrites& writes = {});
// checked_atomics.cpp. The same for an atomic; and what one on global memory tells of accesses to shared memory, as a
// fence is in front of it or as it releases and acquires. `changing`: the lanes that stored another value than they had
// found.
bool check_atomic(Launch& launch, const Warp& warp, const Op* op, const Access& access, std::uint32_t changing);
void pass_by_atomic(Launch& launch, const Warp& warp, const Op* op, const Access& access, std::uint32_t changing);
// Whether the lanes' updates of global memory are atomic with those of other blocks; otherwise records a fault. Only
// for programs with atomics of block scope on global memory.
bool check_block_scope(Launch& launch, const Warp& warp, const Op* op, const Access& access);
// race_report.cpp. The same for an mbarrier that a lane uses: whether it comes behind the thread that has initialised
// it.
bool check_mbarrier(Launch& launch, const Warp& warp, const Op* op, std::uint64_t byte, int lane, SharedTouch touch);

// race_report.cpp. Loads and stores of values that nobody has written: find the bits that a load fills with such
// values, mark its registers, and mark what a store leaves of UnsetValues::stored.
void find_unset_shared(const Warp& warp, const Op* op, const Access& access, PartBits& unset);
const Op* mark_unset_shared(const Launch& launch, Warp& warp, const Op* op, const Access& access);
// hold_load: keeps a load for the picks that check it for races (lowering/analysis/speculation.h); check_held: checks
// it for some lanes, as if it had loaded in these only. What it has found unset was marked when it loaded.
void hold_load(Warp& warp, const Op* op, const Access& access);
bool check_held(Launch& launch, Warp& warp, const HeldLoad& held, std::uint32_t wanted);
void store_unset_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access);
// Marks what an asynchronous copy by one lane leaves at this byte.
void copy_unset_shared(const Launch& launch, const Warp& warp, std::uint64_t from, std::uint64_t byte,
                       std::size_t bytes);

// Charges what the warp's block spent on vector clocks and patterns, if it is watched.
inline void charge_for_clocks(Launch& launch, const Warp& warp) {
  if (warp.block->shadow != nullptr) launch.charge(warp.block->shadow->take_work());
}

// Whether this warp's accesses to shared memory are checked. Tests the launch first, because it is in the host's
// cache.
inline bool is_watched(const Launch& launch, const Warp& warp) {
  return launch.sanitized && warp.block->shadow != nullptr;
}

// Records a lockstep load or store of a watched block if it is certainly ordered after all earlier touches; else false.
inline bool touches_in_order(Launch& launch, const Warp& warp, const Op* op, std::uint64_t first,
                             const LaneOffsets& offsets, std::uint32_t bytes, SharedTouch touch) {
  if (op->instruction->is_volatile || op->speculative || op->guesses) return false;
  const bool are_in_order = warp.block->shadow->touch_in_lockstep(warp.index, op->pc, first, offsets, bytes, touch);
  charge_for_clocks(launch, warp);
  return are_in_order;
}

// What a strong access to global memory tells of accesses to shared memory. pass_by_load: a load that polls or
// acquires; pass_by_store: a volatile, relaxed or release store.
inline void pass_by_load(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  if (!op->tells || !is_watched(launch, warp)) return;
  warp.block->shadow->pass_through_global(warp.index, access, true, 0, true, warp.live);
  charge_for_clocks(launch, warp);
}
inline void pass_by_store(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  if (!is_watched(launch, warp) || !op->instruction->is_volatile) return;
  warp.block->shadow->pass_through_global(warp.index, access, false, access.mask, !op->instruction->releases,
                                          warp.live);
  charge_for_clocks(launch, warp);
}

inline SharedTouch plain_touch(const Op* load) { return load->guesses ? SharedTouch::guess : SharedTouch::read; }

// The same where it may be volatile. An acquire load races with no store that releases; but if its value tells nothing,
// the thread would do the same had it come before that store. So would one that only peeks.
inline SharedTouch strong_touch(const Op* load, bool is_volatile) {
  if (!is_volatile) return plain_touch(load);
  if (load->tells) return SharedTouch::acquire;
  return load->instruction->acquires || load->peeks ? SharedTouch::peek : SharedTouch::glance;
}

// Executes and checks a load or store of shared memory. A store is checked after it is executed, to know whether it
// changed memory.
template <bool store>
const Op* move_checked(Launch& launch, Warp& warp, const Op* op, const Access& access, const Pointers& at,
                       Mover mover) {
  const auto move = [&](const Access& to, const Pointers& pointers) { mover(warp, op, to, pointers); };
  const bool is_volatile = op->instruction->is_volatile;
  if constexpr (!store) {
    if (op->speculative) {
      hold_load(warp, op, access);
      move(access, at);
      return mark_unset_shared(launch, warp, op, access);
    }
    const SharedTouch touch = strong_touch(op, is_volatile);
    const bool carries = touch != SharedTouch::acquire && touch != SharedTouch::peek;
    if (!check_shared(launch, warp, op, access, touch, {.carries = carries})) return nullptr;
    move(access, at);
    if (warp.block->shadow->take_unset()) return mark_unset_shared(launch, warp, op, access);
  } else {
    LaneBytes own;
    move(access, own.pointers(access));
    SharedWrites writes;
    for (int l = 0; l < kWarpSize; ++l) {
      const bool active = (access.mask >> l & 1u) != 0;
      if (active && std::memcmp(own.lane(l, access.bytes), at.of(access, l), access.bytes) == 0)
        writes.unchanged |= 1u << l;
    }
    move(access, at);
    for (int l = 0; l < kWarpSize; ++l) {
      const bool active = (access.mask >> l & 1u) != 0;
      if (active && std::memcmp(own.lane(l, access.bytes), at.of(access, l), access.bytes) != 0)
        writes.replaced |= 1u << l;
    }
    writes.relaxed = !op->instruction->releases;
    if (!check_shared(launch, warp, op, access, is_volatile ? SharedTouch::publish : SharedTouch::write, writes))
      return nullptr;
    if (warp.unset != nullptr) store_unset_shared(launch, warp, op, access);
  }
  return op + 1;
}

}  // namespace roofwalk::vgpu
