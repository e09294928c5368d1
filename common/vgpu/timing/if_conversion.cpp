#include "common/vgpu/timing/if_conversion.h"

#include <algorithm>

namespace roofwalk::vgpu {
namespace {

// Limits for merged blocks. Code beyond them is split into several merged blocks if possible. The limits keep memory
// small: values are tracked along all paths through a merged block, so each member stores all values that were written
// before it.
constexpr std::uint32_t kMostMembers = 512;
constexpr std::uint64_t kMostValues = 500'000;  // members times instructions

class Merger {
 public:
  Merger(const Program& program, const std::vector<bool>& branches)
      : blocks_(program.blocks), first_from_(blocks_.size()), last_from_(blocks_.size()), straight_(blocks_.size()) {
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      first_from_[b] = static_cast<std::uint32_t>(blocks_.size());
      const auto begin = branches.begin() + blocks_[b].first;
      straight_[b] = std::find(begin, begin + blocks_[b].count, true) == begin + blocks_[b].count;
    }
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      for (const std::uint32_t to : blocks_[b].successors) {
        straight_[b] = straight_[b] && to != kExitBlock && to > b;
        if (to == kExitBlock) continue;
        first_from_[to] = std::min(first_from_[to], b);
        last_from_[to] = std::max(last_from_[to], b);
      }
    }
  }

  // Returns the number of consecutive basic blocks, beginning with `first`, that run as one; 1 if `first` is not
  // merged.
  std::uint32_t members_from(std::uint32_t first) const {
    std::uint32_t members = 1, reach = first;
    std::uint64_t count = 0;  // of instructions
    bool chooses = false;
    for (std::uint32_t b = first; b < blocks_.size() && b - first < kMostMembers; ++b) {
      count += blocks_[b].count;
      if (b > first && count * (b - first + 1) > kMostValues) break;
      const bool inside = first_from_[b] >= first && last_from_[b] < b && b <= reach;
      if (b > first && !inside) break;
      if (b == reach && chooses) members = b - first + 1;
      if (!straight_[b]) break;
      chooses = chooses || blocks_[b].successors.size() > 1;
      for (const std::uint32_t to : blocks_[b].successors) reach = std::max(reach, to);
    }
    return members;
  }

 private:
  const std::vector<BasicBlock>& blocks_;
  std::vector<std::uint32_t> first_from_, last_from_;  // by basic block: first and last predecessor
  std::vector<bool> straight_;                         // by basic block: only forward edges, no machine branch
};

}  // namespace

std::vector<MergedBlock> merge_blocks(const Program& program, const std::vector<bool>& branches) {
  const auto& blocks = program.blocks;
  const Merger merger(program, branches);
  std::vector<MergedBlock> out;
  std::vector<std::uint32_t> place(blocks.size());  // by basic block: its index in `out`
  for (std::uint32_t b = 0; b < blocks.size(); b += out.back().members) {
    MergedBlock merged{b, merger.members_from(b), blocks[b]};
    for (std::uint32_t i = 0; i < merged.members; ++i) {
      const BasicBlock& member = blocks[b + i];
      place[b + i] = static_cast<std::uint32_t>(out.size());
      if (i == 0) continue;
      merged.block.count += member.count;
      merged.block.memory.insert(merged.block.memory.end(), member.memory.begin(), member.memory.end());
    }
    const BasicBlock& last = blocks[b + merged.members - 1];
    merged.block.successors = last.successors;
    merged.block.reconvergence = last.reconvergence;
    out.push_back(std::move(merged));
  }
  for (MergedBlock& merged : out) {
    for (std::uint32_t& to : merged.block.successors) to = to == kExitBlock ? kExitBlock : place[to];
    std::uint32_t& meet = merged.block.reconvergence;
    meet = meet == kExitBlock ? kExitBlock : place[meet];
  }
  return out;
}

std::vector<std::vector<std::uint32_t>> ways_within(const Program& program, const MergedBlock& merged) {
  std::vector<std::vector<std::uint32_t>> out(merged.members);
  for (std::uint32_t from = 0; from + 1 < merged.members; ++from) {
    for (const std::uint32_t to : program.blocks[merged.first + from].successors)
      out[to - merged.first].push_back(from);
  }
  return out;
}

}  // namespace roofwalk::vgpu
