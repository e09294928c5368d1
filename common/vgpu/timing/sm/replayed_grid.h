// What is found once about a launch for all replays of its traces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/vgpu/timing/sm_state.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk::vgpu {

// Properties of the code and the traces of a launch, found once for all its replays.
struct ReplayedGrid {
  explicit ReplayedGrid(const TimingInput& input);

  std::vector<std::size_t> memory_ops;  // by basic block
  std::vector<bool> orders_stores;      // by PTX instruction: whether it waits until earlier stores are visible
  // Words and sectors of global memory, by hash, that atomics of several blocks change. It is assumed that blocks on
  // SMs that are not simulated change them, too.
  std::unordered_set<std::uint32_t> places_of_several;
  // By warp: its writes for which warps of other blocks wait, in ascending order of outcomes.
  std::unordered_map<const WarpTrace*, std::vector<WriteNote>> writes_of;
};

inline ReplayedGrid::ReplayedGrid(const TimingInput& input) {
  for (const BasicBlock& block : input.program.blocks) memory_ops.push_back(block.memory.size());
  for (const ptx::Instruction& in : input.program.function->instructions) {
    const bool is_fence = ptx::info(in.opcode).form == ptx::Form::fence;
    orders_stores.push_back((is_fence || in.releases) && !in.of_block);
  }
  for (std::uint32_t i = 0; i < input.trace.writes.size(); ++i) {
    const BlockWrite& write = input.trace.writes[i].by;
    const auto& blocks = input.trace.blocks;
    const auto block = std::lower_bound(blocks.begin(), blocks.end(), write.block,
                                        [](const BlockTrace& one, std::uint64_t of) { return one.index < of; });
    if (block != blocks.end() && block->index == write.block)
      writes_of[&block->warps[write.warp]].push_back({write.outcome, i});
  }
  for (auto& [warp, notes] : writes_of)
    std::sort(notes.begin(), notes.end(), [](const auto& a, const auto& b) { return a.outcome < b.outcome; });
  std::unordered_map<std::uint32_t, std::size_t> changed_by;
  for (std::size_t b = 0; b < input.trace.blocks.size(); ++b) {
    for (const WarpTrace& warp : input.trace.blocks[b].warps) {
      for (const AtomicTurns& each : warp.turns) {
        if (each.kind == AtomicTurns::Kind::swap_shared) continue;
        if (changed_by.try_emplace(each.place, b).first->second != b) places_of_several.insert(each.place);
      }
    }
  }
}

}  // namespace roofwalk::vgpu
