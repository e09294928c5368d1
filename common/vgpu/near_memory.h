// Shared and local memory: bounds, bank conflicts, and the layout that makes local memory coalesce.
#pragma once

#include <fmt/format.h>

#include "common/vgpu/access.h"

namespace roofwalk::vgpu {

// As `resolve`, within the block's shared memory. Turns generic addresses into offsets.
bool resolve_shared(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb, Pointers& out);

enum class SharedUse { load, store, rows, atomic };  // rows: of ldmatrix, a matrix a turn

// Wavefronts of 32 banks of 4 bytes: distinct words of one bank take turns; 8- and 16-byte accesses go by half and
// quarter warps; lanes with the same word share one, but take turns with atomics. Where neighbouring lanes load in
// pairs (n and n ^ 1 of all lanes the same, or n and n ^ 2), wide loads take half as many turns: 128 bytes a turn come
// back, which pairs share (NVIDIA developer forum, "Unexpected shared memory bank conflict", for 7.x; taken for later
// chips).
void count_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedUse use);

// The counts of a request whose turns are known; `bytes` of all its lanes.
inline void add_shared_turns(Launch& launch, const Warp& warp, const Op* op, std::uint32_t bytes,
                             std::uint16_t wavefronts, std::uint16_t conflicts) {
  Site& site = launch.sites[op->pc];
  ++site.requests;
  site.bytes += bytes;
  site.wavefronts += wavefronts;
  site.conflicts += conflicts;
  launch.sm->shared_wavefronts += wavefronts;
  if (warp.trace != nullptr) {
    Outcome& outcome = warp.outcome(op);
    add_to(outcome.shared_wavefronts, wavefronts);
    add_to(outcome.shared_conflicts, conflicts);
  }
}

// The same for one of SharedMemo::steps_requests.
inline void add_steps_turns(Launch& launch, const Warp& warp, const Op& op) {
  SharedMemo& memo = launch.shared_memos[op.pc];
  ++memo.steps_requests;
  launch.sm->shared_wavefronts += memo.steps_wavefronts;
  if (warp.trace != nullptr) {
    Outcome& outcome = warp.outcome(&op);
    add_to(outcome.shared_wavefronts, memo.steps_wavefronts);
    add_to(outcome.shared_conflicts, memo.steps_conflicts);
  }
}

// Of an atomic that is_retried(): counts the swaps of each word, and notes them for a traced warp.
void count_swaps(Launch& launch, Warp& warp, const Op* op, const Access& access, bool shared);

// For a traced warp: that this instruction meets others at a phase or a write of a flag. Once each.
void note_meeting(Launch& launch, const Warp& warp, const Op* op, std::uint32_t number, Meeting::Kind kind);
// The same of what may be a flag: a volatile or atomic access to shared memory, an atomic one to global memory. It
// waits for the last writes of others of its block where it reads them, and is one itself where it writes; who sees
// what an atomic one made sees the writes before it.
struct FlagUse {
  bool reads = false, writes = false, atomic = false, global = false;
};
void note_flags(Launch& launch, const Warp& warp, const Op* op, const Access& access, FlagUse use);
// The same of bytes that an instruction changes by itself: an mbarrier's, which others may read as a flag.
void note_flag_write(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte, std::uint32_t bytes);

// Bounds of local memory (and of .param locals, which live there); false with the fault recorded.
bool check_local(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb);
// For the sanitizer: nobody has written these bytes of the warp's local memory; all that a load reads was not written
// (false with the fault recorded); a store writes.
void forget_local(const Launch& launch, Warp& warp, std::uint32_t first, std::uint32_t bytes);
bool check_local_defined(Launch& launch, const Warp& warp, const Op* op, const Access& access);
void define_local(const Launch& launch, Warp& warp, const Access& access);
// Counts the request's words as global ones: word i of all lanes lies together.
void count_local(Launch& launch, const Warp& warp, const Op* op, const Access& access, bool store);
// Copies between the interleaved words and one buffer of 16 bytes a lane.
void gather_local(const Warp& warp, const Access& access, std::uint8_t (&bytes)[kWarpSize][16]);
void scatter_local(const Warp& warp, const Access& access, const std::uint8_t (&bytes)[kWarpSize][16]);

// One load or store of local memory; `move(pointers)` exchanges the lanes' bytes with registers.
template <bool store, class Move>
const Op* access_local(Launch& launch, Warp& warp, const Op* op, Access& access, bool counted, Move&& move) {
  if (!check_local(launch, warp, op, access, store ? "writes" : "reads")) return nullptr;
  if (counted) count_local(launch, warp, op, access, store);
  if constexpr (store) {
    define_local(launch, warp, access);
  } else if (counted && !check_local_defined(launch, warp, op, access)) {
    return nullptr;
  }
  alignas(16) std::uint8_t bytes[kWarpSize][16];
  if constexpr (!store) gather_local(warp, access, bytes);
  Pointers at;
  for (int l = 0; l < kWarpSize; ++l) at.lane[l] = bytes[l];
  move(at);
  if constexpr (store) scatter_local(warp, access, bytes);
  return after_memory(launch, warp, op);
}

}  // namespace roofwalk::vgpu
