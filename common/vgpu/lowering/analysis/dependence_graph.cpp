#include "common/vgpu/lowering/analysis/dependence_graph.h"

#include "common/vgpu/program/instructions.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Space;

bool has_copies(const Instruction& in) { return in.async == ptx::AsyncMode::copy; }

// Whether what an instruction reads may have been written by another one, elsewhere than in global memory.
bool reads_beside_global(const Instruction& in, const OwnParameters& own) {
  switch (ptx::info(in.opcode).form) {
    case Form::load:
      return in.space != Space::global && in.space != Space::constant && !own.has(in);
    case Form::atomic:
    case Form::fragment_load:
      return in.space != Space::global;
    case Form::matrix_load:
    case Form::mbarrier:
      return true;
    default:
      return passes_in_memory(in);
  }
}

bool writes_beside_global(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::store:
    case Form::atomic:
    case Form::reduction:
    case Form::fragment_store:
      return in.space != Space::global;
    case Form::mbarrier:
      return true;
    default:
      return in.async == ptx::AsyncMode::mbarrier_arrive || has_copies(in) || passes_in_memory(in);
  }
}

bool reads_global(const Instruction& in) {
  if (!reaches_global(in) || in.non_coherent) return false;
  const Form form = ptx::info(in.opcode).form;
  return form == Form::load || form == Form::fragment_load || form == Form::atomic || has_copies(in);
}

bool writes_global(const Instruction& in) {
  if (!reaches_global(in)) return false;
  const Form form = ptx::info(in.opcode).form;
  return form == Form::store || form == Form::fragment_store || form == Form::atomic || form == Form::reduction;
}

}  // namespace

DependenceGraph::DependenceGraph(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                 const std::vector<LinkedPart>& parts)
    : code_(function.instructions),
      blocks_(blocks),
      called_from_(parts.empty() ? ~0u : parts[0].count),
      first_register_(static_cast<std::uint32_t>(code_.size())),
      first_block_(first_register_ + static_cast<std::uint32_t>(function.registers.size())),
      beside_global_(first_block_ + static_cast<std::uint32_t>(blocks.size())),
      global_(beside_global_ + 1),
      calls_(global_ + 1),
      choosing_(calls_ + 1),
      nodes_(choosing_ + 1),
      followed_(nodes_.size()),
      in_loop_(find_loops(blocks, [](const BasicBlock&) { return true; })),
      decides_accesses_(blocks.size()) {
  add_deciders();
  const OwnParameters own(function);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (is_called(blocks[b].first)) depend(first_block_ + b, calls_);
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) add_instruction(pc, b, own);
  }
}

// Ferrante, Ottenstein, Warren: The Program Dependence Graph (1987): the last instruction of a block decides what is
// executed from each of its successors up to where their ways meet.
void DependenceGraph::add_deciders() {
  std::size_t left = std::size_t{1} << 20;  // steps
  const auto has_access = [&](std::uint32_t block) {
    return !blocks_[block].memory.empty() || (blocks_[block].count != 0 && calls_linked(code_[last_of(block)]));
  };
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].successors.size() < 2) continue;
    depend(choosing_, last_of(b));
    for (std::uint32_t at : blocks_[b].successors) {
      for (; at != kExitBlock && at != blocks_[b].reconvergence && left != 0; at = blocks_[at].reconvergence, --left) {
        depend(first_block_ + at, last_of(b));
        if (has_access(at)) decides_accesses_[b] = true;
      }
    }
  }
  if (left != 0) return;
  // In code that is too large to search, all that choose decide all.
  decides_accesses_.assign(blocks_.size(), true);
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) depend(first_block_ + b, choosing_);
}

void DependenceGraph::add_instruction(std::uint32_t pc, std::uint32_t block, const OwnParameters& own) {
  const Instruction& in = code_[pc];
  // A call's sources and results include the results and parameters of all functions that it may lead to.
  for_each_source(in, [&](int reg) { depend(pc, register_node(reg)); });
  for_each_result(in, [&](int reg) { depend(register_node(reg), pc); });
  depend(pc, first_block_ + block);
  if (reads_beside_global(in, own)) depend(pc, beside_global_);
  if (writes_beside_global(in)) depend(beside_global_, pc);
  if ((in_loop_[block] || is_called(pc)) && reads_global(in)) depend(pc, global_);
  if (writes_global(in)) depend(global_, pc);
  if (calls_linked(in)) depend(calls_, pc);
}

void DependenceGraph::follow_node(std::uint32_t node) {
  if (followed_[node]) return;
  followed_[node] = true;
  std::vector<std::uint32_t> ahead{node};
  while (!ahead.empty()) {
    const std::uint32_t next = ahead.back();
    ahead.pop_back();
    for (const std::uint32_t on : nodes_[next].successors) {
      if (followed_[on]) continue;
      followed_[on] = true;
      ahead.push_back(on);
    }
  }
}

std::vector<bool> DependenceGraph::find_cycles() const {
  std::vector<bool> out = find_loops(nodes_, [](const BasicBlock&) { return true; });
  out.resize(code_.size());
  return out;
}

}  // namespace roofwalk::vgpu
