#include "common/vgpu/lowering/analysis/loop_ends.h"

#include <algorithm>

#include "common/vgpu/lowering/analysis/dependence_graph.h"
#include "common/vgpu/program/instructions.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;

std::uint32_t last_of(const BasicBlock& block) { return block.first + block.count - 1; }

// Whether an instruction reads memory that other blocks may write, in a way that can wait for them.
bool may_look(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  return form == Form::load || form == Form::fragment_load || form == Form::atomic || in.async == ptx::AsyncMode::copy;
}

// By block, whether its last instruction may end a loop or a recursion.
std::vector<bool> find_all_ends(const std::vector<BasicBlock>& blocks, const std::vector<LinkedPart>& parts) {
  std::vector<bool> ends = find_loop_ends(blocks);
  for (const LinkedPart& part : parts) {
    if (!part.recursive) continue;
    const auto begins_before = [](const BasicBlock& block, std::uint32_t pc) { return block.first < pc; };
    auto at = std::lower_bound(blocks.begin(), blocks.end(), part.first, begins_before);
    for (; at != blocks.end() && at->first < part.first + part.count; ++at) {
      if (at->successors.size() > 1) ends[static_cast<std::size_t>(at - blocks.begin())] = true;
    }
  }
  return ends;
}

// Follows what decides whether accesses are made, where it depends on itself. Blocks that take turns without a loop
// that ends by a look are found so: whether a block passes the turn on depends on what it sees, and what it may see on
// whether others pass the turn on.
void follow_what_decides_again(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                               DependenceGraph& ending) {
  const auto& code = function.instructions;
  const std::vector<bool> is_cyclic = ending.find_cycles();
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    const bool chooses = blocks[b].successors.size() > 1 && ending.decides_accesses(b);
    if (chooses && is_cyclic[last_of(blocks[b])]) ending.follow(last_of(blocks[b]));
  }
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (!is_cyclic[pc]) continue;
    if (calls_through_pointer(code[pc])) ending.follow(pc);
    if (code[pc].guard >= 0 && is_memory(code[pc])) ending.follow_guard(pc);
  }
}

}  // namespace

std::vector<bool> find_what_ends_loops(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                       const std::vector<LinkedPart>& parts) {
  const auto& code = function.instructions;
  DependenceGraph ending(function, blocks, parts);
  const std::vector<bool> ends = find_all_ends(blocks, parts);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (ends[b] && blocks[b].count != 0) ending.follow(last_of(blocks[b]));
  }
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].opcode == ptx::Opcode::Exit && ending.is_called(pc)) ending.follow(pc);
  }
  follow_what_decides_again(function, blocks, ending);
  std::vector<bool> out(code.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc)
      out[pc] = may_look(code[pc]) && (ending.is_in_loop(b) || ending.is_called(pc)) && ending.has(pc);
  }
  return out;
}

std::vector<bool> find_what_chooses_ways(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                         const std::vector<LinkedPart>& parts) {
  const auto& code = function.instructions;
  DependenceGraph choosing(function, blocks, parts);
  for (const BasicBlock& block : blocks) {
    if (block.successors.size() > 1) choosing.follow(last_of(block));
  }
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].guard >= 0 && is_memory(code[pc])) choosing.follow_guard(pc);
  }
  std::vector<bool> out(code.size());
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) out[pc] = may_look(code[pc]) && choosing.has(pc);
  return out;
}

}  // namespace roofwalk::vgpu
