// Where warps of a block wait for each other, at mbarrier phases and at flags that they poll. In traces, each wait and
// each write is recorded. In all blocks that follow flags (ResidentBlock::follows_flags), a wait also advances the
// warp's PathSums::clock() to that of the write.
#pragma once

#include <cstdint>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// Records, once, that an instruction of a warp takes part in the phase or flag write with this number. If it waits for
// a newer one than before, the sleeps between its earlier tries become naps (trace.h): how many tries fail depends on
// the order in which warps take turns, so the timing model decides how many naps the warp takes. Does nothing without a
// trace.
void note_sync_point(Launch& launch, const Warp& warp, const Op* op, std::uint32_t number, SyncPoint::Kind kind);
// Makes naps in the same way where an instruction of a traced warp has seen a write of another block.
void note_seen_write(Launch& launch, const Warp& warp, const Op* op, const BlockWrite& by);
// Records accesses that may be to flags: volatile or atomic ones to shared memory, atomic ones to global memory. Each
// instruction that writes gets a number. A read waits for the last write of the word by another instruction of the
// block. If an atomic changes a word, then whoever waits for the atomic also waits for the word's previous write.
struct FlagUse {
  bool reads = false, writes = false, atomic = false, global = false;
};
void note_flags(Launch& launch, Warp& warp, const Op* op, const Access& access, FlagUse use);
// Like note_flags(), for the bytes of an mbarrier at which an instruction arrives, or which it makes invalid: other
// instructions may poll them as a flag, and the instruction itself may count the arrivals before it
// (mbarrier.pending_count).
void note_arrival(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte, std::uint32_t bytes);

// Records that an instruction reads bytes of shared memory as a flag.
void note_flag_read(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte, std::uint32_t bytes);

}  // namespace roofwalk::vgpu
