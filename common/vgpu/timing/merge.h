// Where ptxas made branches vanish: it ran short arms of an `if` under a predicate instead, in one straight piece of
// code with what stands before and behind.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Basic blocks in a row that run as one: entered at the first, left at the last, and in between every branch leads
// ahead and is none in the machine's code. A warp enters the first and the last of them, and any of the others.
struct MergedBlock {
  std::uint32_t first = 0, members = 1;  // basic blocks
  BasicBlock block;                      // all of it; successors are merged blocks
};

// All basic blocks, merged where they can be and alone where not. `branches`: by PTX instruction, whether the machine's
// code has a branch for it.
std::vector<MergedBlock> merge_blocks(const Program& program, const std::vector<bool>& branches);

// The members that lead straight to each member: places in the merged block, of all but the first.
std::vector<std::vector<std::uint32_t>> ways_within(const Program& program, const MergedBlock& merged);

}  // namespace roofwalk::vgpu
