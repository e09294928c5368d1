#include "common/vgpu/lowering/polling.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "common/vgpu/program/instructions.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

// Whether a result tells a flag among its sources from its former value. Floating-point operations do not count: their
// sources are data.
bool carries_flag(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
      return !ptx::is_float(in.type) || ptx::info(in.opcode).flops == 0;
    case Form::carry:
    case Form::convert:
    case Form::cvta:
    case Form::move:
    case Form::select:
    case Form::compare:
    case Form::set:
    case Form::barrier:
    case Form::shuffle:
    case Form::vote:
    case Form::warp_reduce:
    case Form::warp_match:
      return true;
    default:
      return false;
  }
}

bool loads_strongly(const Instruction& in) { return ptx::info(in.opcode).form == Form::load && in.is_volatile; }

// Follows the values that decide branches back to the instructions that make them.
class Deciders {
 public:
  explicit Deciders(const ptx::Function& function)
      : function_(function), makers_(function.registers.size()), decides_(function.registers.size()) {
    const auto& code = function.instructions;
    for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
      for_each_result(code[pc], [&](int reg) { makers_[static_cast<std::size_t>(reg)].push_back(pc); });
      for (const Operand& operand : code[pc].call_results) returned_.insert(operand.symbol);
    }
    for (const Instruction& in : code) {
      if (chooses_way(in)) for_each_source(in, [&](int reg) { want(reg); });
    }
    follow();
  }

  bool tests(const Instruction& load) const {
    bool out = false;
    for_each_result(load, [&](int reg) { out = out || decides_[static_cast<std::size_t>(reg)]; });
    return out;
  }

 private:
  void want(int reg) {
    if (decides_[static_cast<std::size_t>(reg)]) return;
    decides_[static_cast<std::size_t>(reg)] = true;
    ahead_.push_back(reg);
  }

  void follow() {
    while (!ahead_.empty()) {
      const auto reg = static_cast<std::size_t>(ahead_.back());
      ahead_.pop_back();
      for (const std::uint32_t pc : makers_[reg]) {
        const Instruction& in = function_.instructions[pc];
        if (carries_flag(in)) for_each_source(in, [&](int from) { want(from); });
        if (ptx::info(in.opcode).form == Form::load && in.space == Space::param) want_returned(in);
      }
    }
  }

  // All functions' results count as one value.
  void want_returned(const Instruction& load) {
    if (returned_wanted_ || !returned_.contains(load.operands[1].symbol)) return;
    returned_wanted_ = true;
    for (const Instruction& in : function_.instructions) {
      if (ptx::info(in.opcode).form != Form::store || in.space != Space::param) continue;
      for_each_register(in.operands[1], [&](int reg) { want(reg); });
    }
  }

  const ptx::Function& function_;
  std::vector<std::vector<std::uint32_t>> makers_;  // by register: the instructions that write it
  std::vector<bool> decides_;                       // by register
  std::vector<int> ahead_;                          // registers whose makers are still to be visited
  std::set<std::string> returned_;                  // variables that receive the results of calls
  bool returned_wanted_ = false;
};

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
  const Deciders deciders(function);
  const std::vector<bool> in_loop = find_loops(blocks, [](const BasicBlock&) { return true; });
  std::vector<bool> tested(code.size()), polling_blocks(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      tested[pc] = loads_strongly(code[pc]) && deciders.tests(code[pc]);
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

std::map<std::uint32_t, std::uint32_t> find_naps(const ptx::Function& function, const std::vector<BasicBlock>& blocks) {
  constexpr int kMostSleeps = 64;  // limit of the sleeps that are looked at
  const auto& code = function.instructions;
  std::map<std::uint32_t, std::uint32_t> out;
  int looked_at = 0;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    std::uint32_t longest_ns = 0;
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      if (sleeps(code[pc]) && code[pc].operands[0].kind == Operand::Kind::immediate)
        longest_ns = std::max(longest_ns, static_cast<std::uint32_t>(code[pc].operands[0].bits));
    }
    if (longest_ns == 0 || ++looked_at > kMostSleeps) continue;
    std::vector<bool> here(blocks.size()), follows(blocks.size());
    here[b] = true;
    std::vector<std::uint32_t> ahead{b};
    while (!ahead.empty()) {
      const std::uint32_t from = ahead.back();
      ahead.pop_back();
      for (const std::uint32_t to : blocks[from].successors) {
        if (to == kExitBlock || follows[to]) continue;
        follows[to] = true;
        ahead.push_back(to);
      }
    }
    if (!follows[b]) continue;
    const std::vector<bool> leads = lead_to(blocks, here);
    for (std::uint32_t in_loop = 0; in_loop < blocks.size(); ++in_loop) {
      if (!follows[in_loop] || !leads[in_loop]) continue;
      for (const std::uint32_t pc : blocks[in_loop].memory) {
        std::uint32_t& nap_ns = out[pc];
        nap_ns = std::max(nap_ns, longest_ns);
      }
    }
  }
  return out;
}

}  // namespace roofwalk::vgpu
