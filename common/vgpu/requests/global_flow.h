// Records values that warps of a block pass through global memory, and those that blocks pass to each other. The timing
// model makes a load of a traced block wait for the store whose value it read, whether that is plain data or a polled
// flag. Blocks without a trace are recorded only if the kernel may read flags in global memory (sync_points.h).
#pragma once

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// Whether a warp's loads and stores are recorded.
inline bool records_global_flow(const Launch& launch, const Warp& warp) {
  return warp.trace != nullptr || launch.follows_global_flags;
}

void note_global_store(Launch& launch, const Warp& warp, const Op* op, const Access& access);
void note_global_load(Launch& launch, Warp& warp, const Op* op, const Access& access);
// Like note_global_load(), for one word (address / 4).
void note_global_read(Launch& launch, Warp& warp, const Op* op, std::uint64_t word);

// The same for values that blocks pass to each other, if Launch::grid_flow is set: a load, whatever its form, waits for
// the writes by other blocks of all that it read, and if atomics changed that, for all changes. Atomics read such
// values only if they spin, or decide whether a loop ends and do not count: others do not wait, they count or share out
// work, and what they get depends on the order of blocks. `word`: address / 4. `bytes`: as in Written.
void note_grid_write(Launch& launch, const Warp& warp, const Op* op, const Written& what);
void note_grid_read(Launch& launch, const Warp& warp, const Op* op, std::uint64_t word, std::uint32_t bytes);

// The same for a chain of waits (Launch::chain, state/block_chain.h), for all warps, traced or not. Only loads and
// atomics that may wait for other blocks look. note_chain_write: an atomic; note_global_store() notes stores.
void note_chain_write(Launch& launch, const Warp& warp, const Op* op, std::uint64_t word, bool keeps);
void note_chain_look(Launch& launch, Warp& warp, const Op* op, std::uint64_t word);
// Returns the cycles of its basic block that are left when an operation is issued (Program::rests). A warp's clocks
// have them from the entry of the block on.
std::int64_t rest_of_block(const Launch& launch, const Op* op);

// At the end of a round in which SMs ran at the same time: records what an SM read, and makes what it wrote known to
// all.
void settle_grid_flow(GridFlow& flow, Multiprocessor& sm);

// Counts one more map entry of a block, if it has a trace. Map entries are needed only while the block runs, but they
// count towards the memory of the block's trace.
void add_beside(Launch& launch, const ResidentBlock& block);

// Returns the key in ResidentBlock::global_flags for a word (address / 4) that an atomic changed.
std::uint64_t global_flag_key(const Launch& launch, const ResidentBlock& block, std::uint64_t word);

}  // namespace roofwalk::vgpu
