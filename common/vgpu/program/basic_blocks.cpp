// Basic blocks: where they begin and end, their successors, and which of them lie in loops.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/vgpu/program/backward.h"
#include "common/vgpu/program/program.h"
#include "common/vgpu/program/reconvergence.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;

// Whether an instruction ends its basic block. A trap does not: control continues past it, so that a trap in one arm of
// a branch, which nvcc emits for every impossible case, does not keep the other arms from reconverging.
bool ends_block(const Instruction& instruction) {
  const Form form = ptx::info(instruction.opcode).form;
  return form == Form::branch || form == Form::indexed_branch || form == Form::leave || calls_linked(instruction);
}

// Returns the targets of a branch or call in the order in which it names them, possibly with duplicates.
std::vector<std::uint32_t> targets_of(const Instruction& instruction) {
  const Form form = ptx::info(instruction.opcode).form;
  if (form == Form::leave) return {};
  if (form != Form::indexed_branch && !calls_through_pointer(instruction))
    return {static_cast<std::uint32_t>(instruction.operands[0].index)};
  std::vector<std::uint32_t> out;
  for (const ptx::Operand& label : instruction.operands[1].elements)
    out.push_back(static_cast<std::uint32_t>(label.index));
  return out;
}

bool may_meet_others(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
    case Form::convert:
    case Form::cvta:
    case Form::move:
    case Form::select:
    case Form::compare:
    case Form::set:
    case Form::number_test:
    case Form::carry:
    case Form::load:
    case Form::store:
    case Form::atomic:
    case Form::reduction:
    case Form::branch:
    case Form::leave:
      return false;
    default:
      return true;
  }
}

// Fills in BasicBlock::leads_out: a block leads out if none of its instructions involves other lanes or warps, and its
// only successor leads out or is the exit. An exit of only some lanes does not count as a successor. Visits each block
// once.
void find_ways_out(const std::vector<Instruction>& code, std::vector<BasicBlock>& blocks) {
  const auto goes_straight = [&](const BasicBlock& block) {
    const auto first = code.begin() + block.first;
    const bool some_end = block.successors.size() == 2 && block.successors[0] == kExitBlock;
    return (block.successors.size() == 1 || some_end) && std::none_of(first, first + block.count, may_meet_others);
  };
  std::vector<bool> seen(blocks.size());
  std::vector<std::uint32_t> way;
  for (std::uint32_t from = 0; from < blocks.size(); ++from) {
    way.clear();
    std::uint32_t block = from;
    for (; block != kExitBlock && !seen[block]; block = blocks[block].successors.back()) {
      seen[block] = true;
      if (!goes_straight(blocks[block])) break;
      way.push_back(block);
    }
    // A walk into a cycle ends at one of the cycle's own blocks, which is not marked yet. So blocks of a cycle do not
    // lead out.
    const bool ends = block == kExitBlock || blocks[block].leads_out;
    for (const std::uint32_t each : way) blocks[each].leads_out = ends;
  }
}

// Fills in BasicBlock::leads_to_syncwarp.
void find_ways_to_syncwarps(const std::vector<Instruction>& code, std::vector<BasicBlock>& blocks) {
  const auto meets = [](const Instruction& in) { return in.barrier == ptx::BarrierMode::warp_sync; };
  if (std::none_of(code.begin(), code.end(), meets)) return;
  walk_backward(blocks, [&](std::uint32_t b) {
    BasicBlock& block = blocks[b];
    if (block.leads_to_syncwarp) return false;
    const auto first = code.begin() + block.first;
    block.leads_to_syncwarp = std::any_of(first, first + block.count, meets) ||
                              std::any_of(block.successors.begin(), block.successors.end(), [&](std::uint32_t to) {
                                return to != kExitBlock && blocks[to].leads_to_syncwarp;
                              });
    return block.leads_to_syncwarp;
  });
}

}  // namespace

std::vector<BasicBlock> find_blocks(const ptx::Function& function) {
  const auto& code = function.instructions;
  std::set<std::uint32_t> starts{0};
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    if (!ends_block(code[i])) continue;
    if (i + 1 < code.size()) starts.insert(i + 1);
    for (const std::uint32_t target : targets_of(code[i])) {
      if (target < code.size()) starts.insert(target);
    }
  }
  std::vector<BasicBlock> blocks;
  std::map<std::uint32_t, std::uint32_t> block_at;
  for (auto it = starts.begin(); it != starts.end(); ++it) {
    const auto next = std::next(it);
    const auto end = next == starts.end() ? static_cast<std::uint32_t>(code.size()) : *next;
    block_at[*it] = static_cast<std::uint32_t>(blocks.size());
    blocks.push_back({.first = *it, .count = end - *it, .successors = {}, .memory = {}});
  }
  const auto at = [&](std::uint32_t index) { return index < code.size() ? block_at.at(index) : kExitBlock; };
  for (BasicBlock& block : blocks) {
    const std::uint32_t end = block.first + block.count;
    for (std::uint32_t pc = block.first; pc < end; ++pc) {
      if (leaves_outcome(code[pc])) block.memory.push_back(pc);
    }
    if (block.count == 0) {
      block.successors = {kExitBlock};
      continue;
    }
    const Instruction& last = code[end - 1];
    const Form form = ptx::info(last.opcode).form;
    if (form == Form::branch || form == Form::indexed_branch) {
      std::set<std::uint32_t> seen;
      const auto lead_to = [&](std::uint32_t index) {
        if (seen.insert(at(index)).second) block.successors.push_back(at(index));
      };
      for (const std::uint32_t target : targets_of(last)) lead_to(target);
      if (last.guard >= 0) lead_to(end);
    } else if (form == Form::leave) {
      block.successors.push_back(kExitBlock);
      if (last.guard >= 0 && end < code.size()) block.successors.push_back(at(end));
    } else {
      block.successors.push_back(at(end));
    }
  }
  find_reconvergence(blocks);
  find_ways_out(code, blocks);
  find_ways_to_syncwarps(code, blocks);
  return blocks;
}

// Tarjan: Depth-First Search and Linear Graph Algorithms (1972). The blocks of a strongly connected component form a
// loop.
std::vector<std::uint32_t> number_loops(const std::vector<BasicBlock>& blocks,
                                        const std::function<bool(const BasicBlock&)>& passes) {
  constexpr std::uint32_t kUnseen = 0, kDone = ~0u;  // blocks that fail `passes` count as done
  constexpr std::uint32_t kAlone = ~0u;  // in `out` until its loop is numbered: a block that leads to itself
  std::vector<std::uint32_t> out(blocks.size());
  std::vector<std::uint32_t> lowest(blocks.size(), kDone), open;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) lowest[b] = passes(blocks[b]) ? kUnseen : kDone;
  struct Visit {
    std::uint32_t block = 0, number = 0;
    std::size_t next = 0;  // index of the next successor
  };
  std::vector<Visit> way;
  std::uint32_t numbers = 0, loops = 0;
  const auto enter = [&](std::uint32_t block) {
    way.push_back({block, lowest[block] = ++numbers});
    open.push_back(block);
  };
  const auto leave = [&] {
    const Visit last = way.back();
    way.pop_back();
    if (!way.empty()) lowest[way.back().block] = std::min(lowest[way.back().block], lowest[last.block]);
    if (lowest[last.block] != last.number) return;
    if (open.back() != last.block || out[last.block] == kAlone) out[last.block] = ++loops;
    for (; open.back() != last.block; open.pop_back()) out[open.back()] = loops, lowest[open.back()] = kDone;
    open.pop_back();
    lowest[last.block] = kDone;
  };
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (lowest[b] != kUnseen) continue;
    for (enter(b); !way.empty();) {
      Visit& now = way.back();
      if (now.next == blocks[now.block].successors.size()) {
        leave();
        continue;
      }
      const std::uint32_t to = blocks[now.block].successors[now.next++];
      if (to == kExitBlock || lowest[to] == kDone) continue;
      if (to == now.block) out[to] = kAlone;
      lowest[to] == kUnseen ? enter(to) : void(lowest[now.block] = std::min(lowest[now.block], lowest[to]));
    }
  }
  return out;
}

std::vector<bool> find_loops(const std::vector<BasicBlock>& blocks,
                             const std::function<bool(const BasicBlock&)>& passes) {
  const std::vector<std::uint32_t> numbers = number_loops(blocks, passes);
  return {numbers.begin(), numbers.end()};
}

// Level by level: without its heads, where control enters it, a loop falls apart into those within it.
std::vector<bool> find_loop_ends(const std::vector<BasicBlock>& blocks) {
  constexpr int kMostLevels = 64;  // deeper loops count as one block after another that may end them
  std::vector<bool> ends(blocks.size()), left(blocks.size(), true);
  const auto is_left = [&](const BasicBlock& block) { return left[static_cast<std::size_t>(&block - blocks.data())]; };
  for (int level = 0;; ++level) {
    const std::vector<std::uint32_t> loop = number_loops(blocks, is_left);
    const std::uint32_t loops = loop.empty() ? 0 : *std::max_element(loop.begin(), loop.end());
    if (loops == 0) return ends;
    std::vector<std::uint32_t> first(loops + 1, kExitBlock);
    std::vector<bool> has_head(loops + 1);
    const auto behead = [&](std::uint32_t block) { left[block] = false, has_head[loop[block]] = true; };
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      first[loop[b]] = std::min(first[loop[b]], b);
      for (const std::uint32_t to : blocks[b].successors) {
        if (to != kExitBlock && loop[to] == loop[b]) continue;
        if (loop[b] != 0) ends[b] = true;
        if (to != kExitBlock && loop[to] != 0) behead(to);
      }
      if (level == kMostLevels && loop[b] != 0) ends[b] = true;
    }
    if (level == kMostLevels) return ends;
    for (std::uint32_t l = 1; l <= loops; ++l) {
      if (!has_head[l]) behead(first[l]);
    }
  }
}

}  // namespace roofwalk::vgpu
