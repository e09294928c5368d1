#include "common/vgpu/lowering/analysis/peeks.h"

#include <algorithm>

#include "common/vgpu/lowering/analysis/flag_values.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

// Each branch takes a walk through the whole code. In a function with more of them, the others count as ones that
// decide what is done with shared memory.
constexpr int kMostBranches = 64;

bool may_peek(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::load && in.is_relaxed &&
         (in.space == Space::shared || in.space == Space::generic);
}

bool is_of_global(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  const bool moves = form == Form::load || form == Form::store || form == Form::atomic || form == Form::reduction;
  return moves && in.space == Space::global;
}

class Peeks {
 public:
  Peeks(const ptx::Function& function, const std::vector<BasicBlock>& blocks)
      : code_(function.instructions),
        blocks_(blocks),
        values_(function),
        readers_(function.registers.size()),
        shows_(function.registers.size()) {
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      for_each_source(code_[pc], [&](int reg) { readers_[static_cast<std::size_t>(reg)].push_back(pc); });
      has_calls_ = has_calls_ || ptx::info(code_[pc].opcode).form == Form::call;
    }
    peeked_ = made_of(may_peek);
    shared_ = made_of([&](const Instruction& in) { return may_come_from_others(in); });
  }

  std::vector<bool> find() {
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) judge_uses(pc);
    while (!ahead_.empty()) {
      const int reg = ahead_.back();
      ahead_.pop_back();
      for (const std::uint32_t pc : values_.makers_of(reg)) {
        if (only_computes(code_[pc])) for_each_value(code_[pc], [&](int source) { show(source); });
      }
    }
    std::vector<bool> out(code_.size());
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      out[pc] = may_peek(code_[pc]);
      for_each_result(code_[pc], [&](int reg) { out[pc] = out[pc] && !shows_[static_cast<std::size_t>(reg)]; });
    }
    return out;
  }

 private:
  bool is_peeked(int reg) const { return peeked_[static_cast<std::size_t>(reg)]; }
  void show(int reg) {
    if (shows_[static_cast<std::size_t>(reg)]) return;
    shows_[static_cast<std::size_t>(reg)] = true;
    ahead_.push_back(reg);
  }

  // Calls visit(register) for each source of an instruction but its guard, and but what a selection is decided by.
  template <class Visit>
  static void for_each_value(const Instruction& in, Visit&& visit) {
    const std::size_t decides = ptx::info(in.opcode).form == Form::select ? 1 : 0;
    for (std::size_t i = result_count(in); i + decides < in.operands.size(); ++i)
      for_each_register(in.operands[i], visit);
    for (const Operand& operand : in.call_arguments) for_each_register(operand, visit);
  }

  // Whether the result may be what another thread has stored in memory that threads share, or may tell of that.
  bool may_come_from_others(const Instruction& in) const {
    if (may_peek(in) || only_computes(in) || is_of_global(in)) return false;
    const Form form = ptx::info(in.opcode).form;
    if (form == Form::cvta || form == Form::space_query || form == Form::cache_policy) return false;
    return form != Form::load || (in.space != Space::constant && (in.space != Space::param || has_calls_));
  }

  // By register: whether it has results of such instructions, or what is made of them.
  template <class Wanted>
  std::vector<bool> made_of(Wanted&& is_wanted) const {
    std::vector<bool> out(readers_.size());
    std::vector<int> ahead;
    const auto add = [&](int reg) {
      if (out[static_cast<std::size_t>(reg)]) return;
      out[static_cast<std::size_t>(reg)] = true;
      ahead.push_back(reg);
    };
    for (const Instruction& in : code_) {
      if (is_wanted(in)) for_each_result(in, add);
    }
    while (!ahead.empty()) {
      const auto reg = static_cast<std::size_t>(ahead.back());
      ahead.pop_back();
      for (const std::uint32_t pc : readers_[reg]) {
        if (only_computes(code_[pc])) for_each_result(code_[pc], add);
      }
    }
    return out;
  }

  // Notes the registers that an instruction uses in another way than a peek may be used.
  void judge_uses(std::uint32_t pc) {
    const Instruction& in = code_[pc];
    const Form form = ptx::info(in.opcode).form;
    if (in.guard >= 0 && is_peeked(in.guard)) {
      const bool is_fine = form == Form::branch ? may_decide(pc) : keeps_apart(in);
      if (!is_fine) show(in.guard);
    }
    if (form == Form::select && !keeps_apart(in)) for_each_register(in.operands.back(), [&](int reg) { show(reg); });
    if (!only_computes(in)) for_each_value(in, [&](int reg) { show(reg); });
  }

  // Whether an instruction does nothing with memory that threads share, or with what comes from it.
  bool keeps_apart(const Instruction& in) const {
    const Form form = ptx::info(in.opcode).form;
    const bool is_apart = only_computes(in) || is_of_global(in) || form == Form::branch || form == Form::leave ||
                          form == Form::sleep || form == Form::prefetch || form == Form::cvta;
    bool out = is_apart;
    const auto keep = [&](int reg) { out = out && !shared_[static_cast<std::size_t>(reg)]; };
    for_each_value(in, keep);
    for_each_result(in, keep);  // lanes that do not execute it keep the former value
    return out;
  }

  // Whether the lanes that go either way do nothing of that kind until they meet.
  bool may_decide(std::uint32_t pc) {
    if (++branches_ > kMostBranches) return false;
    const auto behind = std::ranges::upper_bound(blocks_, pc, {}, &BasicBlock::first);
    const auto here = static_cast<std::uint32_t>(behind - blocks_.begin()) - 1;
    std::vector<bool> seen(blocks_.size());
    std::vector<std::uint32_t> ahead = blocks_[here].successors;
    while (!ahead.empty()) {
      const std::uint32_t block = ahead.back();
      ahead.pop_back();
      if (block == kExitBlock || block == blocks_[here].reconvergence || seen[block]) continue;
      seen[block] = true;
      const auto first = code_.begin() + blocks_[block].first;
      if (!std::all_of(first, first + blocks_[block].count, [&](const Instruction& in) { return keeps_apart(in); }))
        return false;
      ahead.insert(ahead.end(), blocks_[block].successors.begin(), blocks_[block].successors.end());
    }
    return true;
  }

  const std::vector<Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  FlagValues values_;
  std::vector<std::vector<std::uint32_t>> readers_;  // by register
  // By register: whether it has what relaxed loads have found, or what is made of it; what may come from other threads
  // otherwise; what is used in another way than a peek may be.
  std::vector<bool> peeked_, shared_, shows_;
  std::vector<int> ahead_;  // registers whose makers are still to be visited
  bool has_calls_ = false;
  int branches_ = 0;
};

}  // namespace

std::vector<bool> find_peeks(const ptx::Function& function, const std::vector<BasicBlock>& blocks) {
  if (std::ranges::none_of(function.instructions, may_peek)) return {};
  return Peeks(function, blocks).find();
}

}  // namespace roofwalk::vgpu
