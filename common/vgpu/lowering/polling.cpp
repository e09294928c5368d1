#include "common/vgpu/lowering/polling.h"

#include "common/vgpu/lowering/flag_values.h"
#include "common/vgpu/program/instructions.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;

bool loads_strongly(const Instruction& in) { return ptx::info(in.opcode).form == Form::load && in.is_volatile; }

// Returns, by block, whether control can get from it to one of `ends`, which count, too.
std::vector<bool> lead_to(const std::vector<BasicBlock>& blocks, std::vector<bool> ends) {
  std::vector<std::vector<std::uint32_t>> before(blocks.size());
  std::vector<std::uint32_t> ahead;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (ends[b]) ahead.push_back(b);
    for (const std::uint32_t to : blocks[b].successors) {
      if (to != kExitBlock) before[to].push_back(b);
    }
  }
  while (!ahead.empty()) {
    const std::uint32_t block = ahead.back();
    ahead.pop_back();
    for (const std::uint32_t from : before[block]) {
      if (ends[from]) continue;
      ends[from] = true;
      ahead.push_back(from);
    }
  }
  return ends;
}

}  // namespace

std::vector<bool> find_polling_loads(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                     std::uint32_t called_from) {
  const auto& code = function.instructions;
  FlagValues deciding(function);
  for (const Instruction& in : code) {
    if (chooses_way(in)) deciding.follow_sources(in);
  }
  const std::vector<bool> in_loop = find_loops(blocks, [](const BasicBlock&) { return true; });
  std::vector<bool> tested(code.size()), polling_blocks(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      tested[pc] = loads_strongly(code[pc]) && deciding.come_from(code[pc]);
      if (tested[pc] && in_loop[b]) polling_blocks[b] = true;
    }
  }
  const std::vector<bool> leads = lead_to(blocks, polling_blocks);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc)
      tested[pc] = tested[pc] && (leads[b] || code[pc].acquires || pc >= called_from);
  }
  return tested;
}

std::vector<bool> find_what_picks(const ptx::Function& function) {
  const auto& code = function.instructions;
  FlagValues picking(function);
  for (const Instruction& in : code) {
    picking.follow_guard(in);
    if (ptx::info(in.opcode).form == Form::select) picking.follow_operand(in.operands.back());
  }
  std::vector<bool> out(code.size());
  for (std::uint32_t pc = 0; pc < code.size(); ++pc)
    out[pc] = ptx::info(code[pc].opcode).form == Form::atomic && picking.come_from(code[pc]);
  // The result of an atomic is often where to put something, which tells nothing of what others have put there.
  for (const Instruction& in : code) {
    for (const ptx::Operand& operand : in.operands) {
      if (operand.kind == ptx::Operand::Kind::address) picking.follow_operand(operand);
    }
  }
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (loads_strongly(code[pc]) && code[pc].acquires) out[pc] = picking.come_from(code[pc]);
  }
  return out;
}

}  // namespace roofwalk::vgpu
