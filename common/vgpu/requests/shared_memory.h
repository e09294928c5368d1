// Requests to shared memory: bounds and bank conflicts.
#pragma once

#include <cstdint>
#include <string>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// As `resolve`, within the block's shared memory. Turns generic addresses into offsets.
bool resolve_shared(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb, Pointers& out);

enum class SharedUse { load, store, rows, atomic };  // rows: ldmatrix, one matrix per turn

// Counts wavefronts of 32 banks of 4 bytes: distinct words of one bank take one each; 8- and 16-byte accesses are split
// into half and quarter warps; lanes with the same word share a wavefront, except in atomics. Where lanes load in pairs
// (n and n ^ 1 of all lanes the same, or n and n ^ 2), wide loads take half as many: each returns 128 bytes,
// which pairs share (NVIDIA developer forum, "Unexpected shared memory bank conflict", for 7.x; assumed for later
// chips).
void count_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedUse use);

// Adds the counts of a request whose wavefronts are known; `bytes` of all its lanes.
inline void add_shared_wavefronts(Launch& launch, const Warp& warp, const Op* op, std::uint32_t bytes,
                                  std::uint16_t wavefronts, std::uint16_t conflicts) {
  InstructionCounters& site = launch.sites[op->pc];
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

// The race detector's word: the size in bytes of the kernel's narrowest access to shared memory, at most 4.
std::uint32_t shared_word_bytes(const ptx::Function& function);

// Names a byte of shared memory: "element 1 of tile", in elements of the instruction's type; in bytes where it lies
// inside an element. Bytes past the end count to the last variable, bytes before the start to the first.
std::string shared_place(const Program& program, const ptx::Instruction& in, std::uint64_t byte);

}  // namespace roofwalk::vgpu
