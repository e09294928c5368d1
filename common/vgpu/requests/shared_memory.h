// Requests to shared memory: bounds and bank conflicts.
#pragma once

#include <cstdint>
#include <string>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// Like resolve(), for the block's shared memory. Turns generic addresses into offsets.
bool resolve_shared(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb, Pointers& out);

// rows: ldmatrix, which reads one matrix at a time. counting: an atomic that counts lanes (SharedAccess::counts_lanes).
enum class SharedUse { load, store, rows, atomic, counting };

// Counts wavefronts of 32 banks of 4 bytes. Distinct words in one bank take one wavefront each; lanes with the same
// word share a wavefront, except in atomics that do not count lanes. (Those that do take a lone warp on a B300 24
// cycles for one word and for two words of a bank, and 63 for 32 words of a bank, others 61 and 63:
// ademeure/QuickRunCUDA, justifications/22_atomic_smem_DEEP.md.) Accesses of 8 and 16 bytes per lane are split into
// half and quarter warps. Wide loads take half as many wavefronts if lanes load in pairs (all lanes n and n ^ 1 have
// the same address, or all n and n ^ 2): a wavefront returns 128 bytes, and both lanes of a pair use the same ones
// (NVIDIA developer forum, "Unexpected shared memory bank conflict", for 7.x; assumed for later chips).
void count_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedUse use);

// Adds the counts of an access whose wavefronts are known; `bytes` is the sum over its lanes. `requests`: of the
// machine code; 0 if another machine access includes this one.
inline void add_shared_wavefronts(Launch& launch, const Warp& warp, const Op* op, std::uint32_t bytes,
                                  std::uint16_t wavefronts, std::uint16_t conflicts, std::uint32_t requests) {
  InstructionCounters& site = launch.sites[op->pc];
  site.requests += requests;
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

// Like add_shared_wavefronts(), for a request in lockstep code, whose wavefronts are in the memo. The instruction's
// counters are computed later, from SharedMemo::lockstep_requests.
inline void add_lockstep_wavefronts(Launch& launch, const Warp& warp, const Op& op) {
  SharedMemo& memo = launch.shared_memos[op.pc];
  ++memo.lockstep_requests;
  launch.sm->shared_wavefronts += memo.lockstep_wavefronts;
  if (warp.trace != nullptr) {
    Outcome& outcome = warp.outcome(&op);
    add_to(outcome.shared_wavefronts, memo.lockstep_wavefronts);
    add_to(outcome.shared_conflicts, memo.lockstep_conflicts);
  }
}

// Returns the granularity of the race detector: the size in bytes of the kernel's narrowest access to shared memory, at
// most 4.
std::uint32_t shared_word_bytes(const ptx::Function& function);

// Names a byte of shared memory: "element 1 of tile", in elements of the instruction's type, or in bytes if it is not
// an element's first byte. Bytes past the end are counted from the last variable, bytes before the start from the
// first.
std::string shared_place(const Program& program, const ptx::Instruction& in, std::uint64_t byte);

}  // namespace roofwalk::vgpu
