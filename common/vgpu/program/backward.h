// Analyses that follow values backward from block to block.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Calls walk(block) for each basic block, the last one first, and again for the blocks that lead to one for which it
// returned true: what holds at its beginning has changed.
template <class Walk>
void walk_backward(const std::vector<BasicBlock>& blocks, Walk&& walk) {
  std::vector<std::vector<std::uint32_t>> before(blocks.size());
  std::vector<std::uint32_t> ahead;
  std::vector<bool> waits(blocks.size(), true);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    ahead.push_back(b);
    for (const std::uint32_t to : blocks[b].successors) {
      if (to != kExitBlock) before[to].push_back(b);
    }
  }
  while (!ahead.empty()) {
    const std::uint32_t b = ahead.back();
    ahead.pop_back();
    waits[b] = false;
    if (!walk(b)) continue;
    for (const std::uint32_t from : before[b]) {
      if (!waits[from]) ahead.push_back(from);
      waits[from] = true;
    }
  }
}

}  // namespace roofwalk::vgpu
