// Finds branches that ptxas removed (if-conversion): it lets short arms of an `if` run under a predicate, in one
// straight piece of code with the code before and after them.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Consecutive basic blocks that run as one: control enters the first and leaves the last. Branches in between lead
// forward and do not exist in the machine code. A warp enters the first and the last of these basic blocks, and some of
// the others.
struct MergedBlock {
  std::uint32_t first = 0, members = 1;  // basic blocks
  BasicBlock block;                      // all members together; successors are indices of merged blocks
};

// Returns all basic blocks, merged where possible. `branches`: by PTX instruction, whether the machine code contains
// the branch.
std::vector<MergedBlock> merge_blocks(const Program& program, const std::vector<bool>& branches);

// Returns the predecessors of each member, as indices of members; the first member has none.
std::vector<std::vector<std::uint32_t>> ways_within(const Program& program, const MergedBlock& merged);

}  // namespace roofwalk::vgpu
