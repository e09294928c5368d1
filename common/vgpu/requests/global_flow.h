// What warps of a block read in global memory that others of the block wrote: for a traced block, so that the clock
// lets a load wait for the store that it saw, whatever made the one or the other (a flag that is polled, plain or
// volatile).
#pragma once

#include "common/vgpu/requests/access.h"

namespace roofwalk::vgpu {

void note_global_store(Launch& launch, const Warp& warp, const Op* op, const Access& access);
void note_global_load(Launch& launch, const Warp& warp, const Op* op, const Access& access);
// The same of one word (address / 4) that an atomic asks for.
void note_global_read(Launch& launch, const Warp& warp, const Op* op, std::uint64_t word);

// An entry more in what a traced block keeps: counted with its trace, as long as it runs.
void add_beside(Launch& launch, const ResidentBlock& block);

// Where ResidentBlock::global_flags keeps a word (address / 4) that an atomic changed.
std::uint64_t global_flag_key(const Launch& launch, const ResidentBlock& block, std::uint64_t word);

}  // namespace roofwalk::vgpu
