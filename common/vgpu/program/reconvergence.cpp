#include "common/vgpu/program/reconvergence.h"

#include <algorithm>
#include <utility>

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kNone = ~0u;

using Ways = std::vector<std::vector<std::uint32_t>>;  // by block: the blocks that its edges lead to

// Lengauer, Tarjan: A Fast Algorithm for Finding Dominators in a Flowgraph (1979), applied to the reversed graph,
// whose root is the virtual exit. Blocks are numbered in depth-first order; blocks that cannot reach the exit have no
// number.
class PostDominators {
 public:
  // `to` and `from`: edges to successors and to predecessors; the last block is the exit.
  PostDominators(const Ways& to, const Ways& from) : number_(to.size(), kNone) {
    search(from);
    const std::size_t count = block_.size();
    semi_.resize(count);
    for (std::uint32_t v = 0; v < count; ++v) semi_[v] = v;
    best_ = semi_;
    ancestor_.assign(count, kNone);
    dominator_.assign(count, 0);
    find(to);
  }

  // The immediate post-dominator of a block; the exit if no block post-dominates it or it cannot reach the exit.
  std::uint32_t of(std::uint32_t block) const {
    return number_[block] == kNone ? block_[0] : block_[dominator_[number_[block]]];
  }

 private:
  void search(const Ways& from) {
    // Pairs: number of a block; how many of its edges were followed.
    std::vector<std::pair<std::uint32_t, std::size_t>> stack;
    const auto enter = [&](std::uint32_t block, std::uint32_t parent) {
      number_[block] = static_cast<std::uint32_t>(block_.size());
      stack.emplace_back(number_[block], 0);
      block_.push_back(block);
      parent_.push_back(parent);
    };
    enter(static_cast<std::uint32_t>(from.size() - 1), 0);
    while (!stack.empty()) {
      auto& [v, next] = stack.back();
      if (next == from[block_[v]].size()) {
        stack.pop_back();
        continue;
      }
      const std::uint32_t block = from[block_[v]][next++];
      if (number_[block] == kNone) enter(block, v);
    }
  }

  void find(const Ways& to) {
    // By semidominator: nodes whose dominator is still to be found.
    std::vector<std::vector<std::uint32_t>> waiting(block_.size());
    for (auto w = static_cast<std::uint32_t>(block_.size()); w-- > 1;) {
      for (const std::uint32_t block : to[block_[w]]) {
        if (number_[block] != kNone) semi_[w] = std::min(semi_[w], semi_[best_above(number_[block])]);
      }
      waiting[semi_[w]].push_back(w);
      ancestor_[w] = parent_[w];
      for (const std::uint32_t v : waiting[parent_[w]]) {
        const std::uint32_t u = best_above(v);
        dominator_[v] = semi_[u] < semi_[v] ? u : parent_[w];
      }
      waiting[parent_[w]].clear();
    }
    for (std::uint32_t w = 1; w < block_.size(); ++w) {
      if (dominator_[w] != semi_[w]) dominator_[w] = dominator_[dominator_[w]];
    }
  }

  // Returns the node with the least semidominator among `v` and its ancestors in the forest built so far, without the
  // root. Compresses the path to make later calls fast.
  std::uint32_t best_above(std::uint32_t v) {
    if (ancestor_[v] == kNone) return v;
    path_.clear();
    for (std::uint32_t at = v; ancestor_[ancestor_[at]] != kNone; at = ancestor_[at]) path_.push_back(at);
    for (auto at = path_.rbegin(); at != path_.rend(); ++at) {
      const std::uint32_t above = ancestor_[*at];
      if (semi_[best_[above]] < semi_[best_[*at]]) best_[*at] = best_[above];
      ancestor_[*at] = ancestor_[above];
    }
    return best_[v];
  }

  std::vector<std::uint32_t> number_;          // by block: its depth-first number
  std::vector<std::uint32_t> block_, parent_;  // these and the following: by number
  // semi_: semidominators; ancestor_: the forest; best_: the best node on the compressed path.
  std::vector<std::uint32_t> semi_, best_, ancestor_;
  std::vector<std::uint32_t> dominator_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

void find_reconvergence(std::vector<BasicBlock>& blocks) {
  const auto exit = static_cast<std::uint32_t>(blocks.size());
  Ways to(blocks.size() + 1), from(blocks.size() + 1);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (const std::uint32_t successor : blocks[b].successors) {
      to[b].push_back(successor == kExitBlock ? exit : successor);
      from[to[b].back()].push_back(b);
    }
  }
  const PostDominators dominators(to, from);
  // Blocks from which no exit can be reached (endless loops) never reconverge.
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    const std::uint32_t meeting = dominators.of(b);
    blocks[b].reconvergence = meeting == exit ? kExitBlock : meeting;
  }
}

}  // namespace roofwalk::vgpu
