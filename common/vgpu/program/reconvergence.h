// Where diverged lanes of a warp meet again: the immediate post-dominator of a basic block, the first block that every
// way from it to the end of its function comes through.
#pragma once

#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Fills in BasicBlock::reconvergence from the successors. Takes hardly longer than to look at every way once.
void find_reconvergence(std::vector<BasicBlock>& blocks);

}  // namespace roofwalk::vgpu
