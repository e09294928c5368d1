#include "common/vgpu/lowering/analysis/polling.h"

#include <algorithm>
#include <set>

#include "common/vgpu/lowering/analysis/flag_values.h"
#include "common/vgpu/program/instructions.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;

// Whether an instruction computes from registers only, and alone for its thread.
bool computes(Form form) {
  return form == Form::alu || form == Form::convert || form == Form::cvta || form == Form::move ||
         form == Form::select || form == Form::compare || form == Form::set || form == Form::number_test;
}

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

bool is_shared(const Instruction& in) { return in.space == ptx::Space::shared || in.space == ptx::Space::generic; }

// Finds the flags that one lane looks at for others, to which it hands what it has found through a word of shared
// memory: their looks at that word decide.
class HandedOn {
 public:
  // `deciding`: what decides branches.
  HandedOn(const ptx::Function& function, const std::vector<BasicBlock>& blocks, const FlagValues& deciding)
      : code_(function.instructions),
        blocks_(blocks),
        loops_(number_loops(blocks, [](const BasicBlock&) { return true; })),
        flags_(function),
        copies_(function.registers.size()) {
    for_each([&](std::uint32_t b, const Instruction& in) {
      const bool takes = ptx::info(in.opcode).form == Form::load && is_shared(in) && deciding.come_from(in);
      if (takes) any_ = true, takers_.insert(loops_[b]);
    });
    takers_.erase(0);
    if (!any_) return;
    for_each([&](std::uint32_t b, const Instruction& in) {
      if (ptx::info(in.opcode).form != Form::store || !is_shared(in)) return;
      flags_.follow_operand(in.operands[1]);
      if (takers_.contains(loops_[b])) for_each_register(in.operands[1], [&](int reg) { want(reg); });
    });
    while (!ahead_.empty()) {
      const int reg = ahead_.back();
      ahead_.pop_back();
      for (const std::uint32_t pc : flags_.makers_of(reg)) {
        if (keeps_flag(code_[pc])) for_each_source(code_[pc], [&](int from) { want(from); });
      }
    }
  }

  // Whether a load in this block looks for others. An acquire load may look once, and its value may be computed with;
  // of the other loads, many are of data, so they must be in the loop of those for which they look.
  bool has(std::uint32_t block, const Instruction& load) const {
    if (!any_ || load.space == ptx::Space::param) return false;
    if (load.acquires) return flags_.come_from(load);
    bool is_copied = false;
    for_each_result(load, [&](int reg) { is_copied = is_copied || copies_[static_cast<std::size_t>(reg)]; });
    return is_copied && takers_.contains(loops_[block]);
  }

 private:
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      for (std::uint32_t pc = blocks_[b].first; pc < blocks_[b].first + blocks_[b].count; ++pc) visit(b, code_[pc]);
    }
  }

  static bool keeps_flag(const Instruction& in) {
    const Form form = ptx::info(in.opcode).form;
    return form == Form::move || form == Form::convert || form == Form::select || form == Form::compare ||
           form == Form::set;
  }

  void want(int reg) {
    if (copies_[static_cast<std::size_t>(reg)]) return;
    copies_[static_cast<std::size_t>(reg)] = true;
    ahead_.push_back(reg);
  }

  const std::vector<Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  const std::vector<std::uint32_t> loops_;  // by block
  std::set<std::uint32_t> takers_;          // the loops with a look at such a word
  bool any_ = false;                        // whether there is one anywhere
  FlagValues flags_;                        // what is stored in shared memory
  std::vector<bool> copies_;                // by register: the same in these loops, apart from arithmetic
  std::vector<int> ahead_;                  // of which the makers are still to be visited
};

// Whether a thread may find by an instruction, if it repeats it, what another one has done.
bool may_wait(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  return loads_strongly(in) || form == Form::atomic || form == Form::mbarrier || form == Form::call;
}

// The blocks to which control may get from a block before all its ways meet again.
std::vector<bool> find_ways_from(const std::vector<BasicBlock>& blocks, std::uint32_t from) {
  std::vector<bool> seen(blocks.size());
  std::vector<std::uint32_t> ahead = blocks[from].successors;
  while (!ahead.empty()) {
    const std::uint32_t block = ahead.back();
    ahead.pop_back();
    if (block == kExitBlock || block == blocks[from].reconvergence || seen[block]) continue;
    seen[block] = true;
    ahead.insert(ahead.end(), blocks[block].successors.begin(), blocks[block].successors.end());
  }
  return seen;
}

}  // namespace

std::vector<bool> find_polling_loads(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                     std::uint32_t called_from) {
  const auto& code = function.instructions;
  FlagValues deciding(function);
  for (const Instruction& in : code) {
    if (chooses_way(in)) deciding.follow_sources(in);
  }
  const HandedOn handed_on(function, blocks, deciding);
  const std::vector<bool> in_loop = find_loops(blocks, [](const BasicBlock&) { return true; });
  std::vector<bool> tested(code.size()), polling_blocks(blocks.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      tested[pc] = loads_strongly(code[pc]) && (deciding.come_from(code[pc]) || handed_on.has(b, code[pc]));
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

std::optional<std::uint32_t> find_plain_wait(const ptx::Function& function, const BasicBlock& block) {
  const auto& code = function.instructions;
  const std::uint32_t behind = block.first + block.count;
  if (block.count == 0) return std::nullopt;
  const Instruction& last = code[behind - 1];
  const bool is_loop = ptx::info(last.opcode).form == Form::branch && last.guard >= 0 &&
                       static_cast<std::uint32_t>(last.operands[0].index) == block.first;
  if (!is_loop) return std::nullopt;
  std::set<int> made, made_so_far;
  for (std::uint32_t pc = block.first; pc < behind; ++pc) for_each_result(code[pc], [&](int reg) { made.insert(reg); });
  std::optional<std::uint32_t> out;
  bool repeats = true;  // whether each round begins as the one before did
  for (std::uint32_t pc = block.first; pc < behind; ++pc) {
    const Instruction& in = code[pc];
    const Form form = ptx::info(in.opcode).form;
    repeats = repeats && !loads_strongly(in) && (computes(form) || form == Form::load || pc + 1 == behind);
    for_each_source(in, [&](int reg) { repeats = repeats && (!made.contains(reg) || made_so_far.contains(reg)); });
    // Lanes whose guard is off keep what the round before has made.
    if (in.guard < 0) for_each_result(in, [&](int reg) { made_so_far.insert(reg); });
    if (form == Form::load && reaches_global(in) && !out) out = pc;
  }
  return repeats ? out : std::nullopt;
}

std::vector<bool> find_ways_in_any_order(const ptx::Function& function, const std::vector<BasicBlock>& blocks) {
  // Blocks that may be visited: each branch takes a walk through the whole code.
  std::size_t left = std::size_t{1} << 18;
  std::vector<bool> waits(blocks.size()), calls(blocks.size()), out(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      waits[b] = waits[b] || may_wait(function.instructions[pc]);
      calls[b] = calls[b] || ptx::info(function.instructions[pc].opcode).form == Form::call;
    }
  }
  const bool any_waits = std::find(waits.begin(), waits.end(), true) != waits.end();
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    const std::vector<std::uint32_t>& to = blocks[b].successors;
    if (to.size() < 2 || std::any_of(to.begin(), to.end(), [&](std::uint32_t each) { return each <= b; })) continue;
    out[b] = !any_waits;
    if (!any_waits || left < blocks.size()) continue;
    left -= blocks.size();
    const std::vector<bool> ways = find_ways_from(blocks, b);
    const auto number_of = [&](const BasicBlock& block) { return static_cast<std::size_t>(&block - blocks.data()); };
    const std::vector<bool> loops = find_loops(blocks, [&](const BasicBlock& block) { return ways[number_of(block)]; });
    out[b] = true;
    for (std::size_t each = 0; each < blocks.size(); ++each)
      out[b] = out[b] && !(loops[each] && waits[each]) && !(ways[each] && calls[each]);
  }
  return out;
}

}  // namespace roofwalk::vgpu
