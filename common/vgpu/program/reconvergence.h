// Where diverged lanes of a warp meet again: at the immediate post-dominator of a basic block, the first block that
// lies on every path from it to the end of its function.
#pragma once

#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Fills in BasicBlock::reconvergence from the successors, in nearly linear time in the number of edges.
void find_reconvergence(std::vector<BasicBlock>& blocks);

}  // namespace roofwalk::vgpu
