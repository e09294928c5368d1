// What warps of a block wait for each other at, for traces: phases of mbarriers, and flags that they poll.
#pragma once

#include <cstdint>

#include "common/vgpu/requests/access.h"

namespace roofwalk::vgpu {

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

}  // namespace roofwalk::vgpu
