#include "common/vgpu/lowering/speculation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/vgpu/program/instructions.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/state/warp.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

bool is_plain_load(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::load && !in.is_volatile && !in.acquires;
}

bool may_be_speculative(const Instruction& in) {
  const bool is_checked = in.space == Space::shared || in.space == Space::local || in.space == Space::generic;
  return is_checked && is_plain_load(in) && in.guard < 0;
}

// Whether an instruction only makes registers of registers, lane by lane.
bool is_pure(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
    case Form::carry:
    case Form::convert:
    case Form::cvta:
    case Form::move:
    case Form::select:
    case Form::compare:
    case Form::set:
    case Form::number_test:
      return in.guard < 0;
    default:
      return false;
  }
}

// Whether a check of shared or local memory may be made after this instruction instead of before it.
bool leaves_memory_alone(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  if (form == Form::store) return in.space == Space::global;
  // A guard changes nothing of what the instruction may do.
  Instruction unguarded;
  unguarded.opcode = in.opcode;
  return is_pure(unguarded) || is_plain_load(in) || form == Form::branch || form == Form::leave;
}

bool is_register(const Operand& operand) { return operand.kind == Operand::Kind::reg && operand.index >= 0; }

struct Condition {
  std::uint32_t at = 0;  // the instruction that picks
  int predicate = 0;
  bool value = false;  // of the predicate in the lanes that want the loaded value
  auto operator<=>(const Condition&) const = default;
};
using Way = std::vector<Condition>;

// Which lanes use a value later in the block: all, or those in which all conditions of a way hold. No way: none.
struct Demand {
  bool all = false;
  std::vector<Way> ways = {};

  void add(const Demand& more) {
    all = all || more.all;
    for (const Way& way : more.ways) {
      if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
    }
    if (ways.size() > HeldLoad::kMostWays) all = true;
    if (all) ways.clear();
  }
  bool is_none() const { return !all && ways.empty(); }
};

// Visits a basic block backwards, and keeps for each register who uses its value.
class BlockDemands {
 public:
  BlockDemands(const ptx::Function& function, const std::vector<BasicBlock>& blocks, std::uint32_t index,
               const BlockUses& uses, Speculation& out)
      : code_(function.instructions), block_(blocks[index]), index_(index), uses_(uses), out_(out) {
    find_loaded();
  }

  void run() {
    if (!any_) return;
    for (const auto& [reg, is_loaded] : loaded_) use(reg, demand_of_next_blocks(reg));
    for (std::uint32_t pc = block_.first + block_.count; pc-- > block_.first;) visit(pc);
  }

 private:
  static constexpr std::size_t kMostConditions = 4;  // of a way; more are left out, so that more lanes are checked

  // Finds the registers whose value depends on a load of this block.
  void find_loaded() {
    for (std::uint32_t pc = block_.first; pc < block_.first + block_.count; ++pc) {
      const Instruction& in = code_[pc];
      bool is_loaded = may_be_speculative(in);
      any_ = any_ || is_loaded;
      for_each_source(in, [&](int reg) { is_loaded = is_loaded || loaded_.contains(reg); });
      if (is_loaded) for_each_result(in, [&](int reg) { loaded_[reg] = true; });
    }
  }

  Demand demand_for(int reg) const {
    const auto found = demands_.find(reg);
    return found == demands_.end() ? Demand{} : found->second;
  }

  // A branch picks, too: the compiler may move a load ahead of a branch of which one side does not want it.
  Demand demand_of_next_blocks(int reg) const {
    const auto wants = [&](std::uint32_t to) {
      return to != kExitBlock && uses_.is_wanted_in(static_cast<std::size_t>(reg), to);
    };
    const auto& next = block_.successors;
    if (next.size() > 2) return {.all = true};
    const std::uint32_t pc = block_.first + block_.count - 1;
    const Instruction& last = code_[pc];
    const bool any = std::any_of(next.begin(), next.end(), wants);
    const bool all = std::all_of(next.begin(), next.end(), wants);
    const bool picks = ptx::info(last.opcode).form == Form::branch && last.guard >= 0 && next.size() == 2;
    if (!any || all || !picks) return {.all = any};
    const bool wants_next = wants(next[1]);  // where lanes go that do not take the branch
    return {.ways = {{Condition{pc, last.guard, wants_next == last.guard_negated}}}};
  }

  void use(int reg, const Demand& demand) {
    if (!loaded_.contains(reg)) return;
    Demand& sum = demands_[reg];
    sum.add(demand);
    if (!sum.ways.empty()) conditional_.insert(reg);
  }
  void use(const Operand& operand, const Demand& demand) {
    for_each_register(operand, [&](int reg) { use(reg, demand); });
  }

  Demand take_results(const Instruction& in) {
    Demand sum;
    for_each_result(in, [&](int reg) {
      sum.add(demand_for(reg));
      if (in.guard < 0) demands_[reg] = {};
    });
    return sum;
  }

  void visit(std::uint32_t pc) {
    const Instruction& in = code_[pc];
    if (!leaves_memory_alone(in)) {
      for (const int reg : conditional_) {
        if (!demands_[reg].is_none()) demands_[reg] = {.all = true};
      }
      conditional_.clear();
    }
    const Demand demand = take_results(in);
    if (may_be_speculative(in) && !demand.all && !demand.ways.empty()) note_load(pc, demand);
    if (!is_pure(in)) {
      for_each_source(in, [&](int reg) { use(reg, {.all = true}); });
      return;
    }
    if (demand.is_none() || pick(pc, in, demand)) return;
    for_each_source(in, [&](int reg) { use(reg, demand); });
  }

  // The demand for a source that counts only where `condition` has a value.
  static Demand where(const Demand& demand, const Operand& condition, bool value, std::uint32_t pc) {
    if (!is_register(condition)) return demand;
    Demand out;
    const Condition also{pc, condition.index, value != condition.negated};
    for (Way way : demand.all ? std::vector<Way>(1) : demand.ways) {
      if (way.size() < kMostConditions) way.push_back(also);
      out.add({.ways = {std::move(way)}});
    }
    return out;
  }

  // If the instruction picks between its sources by a predicate, adds the demands for these. A predicate that is itself
  // loaded does not pick: its own load may be the speculative one.
  bool pick(std::uint32_t pc, const Instruction& in, const Demand& demand) {
    const Form form = ptx::info(in.opcode).form;
    const auto& o = in.operands;
    const auto is_loaded = [&](const Operand& operand) {
      return is_register(operand) && loaded_.contains(operand.index);
    };
    if (form == Form::select) {
      use(o[1], where(demand, o[3], true, pc));
      use(o[2], where(demand, o[3], false, pc));
      use(o[3], demand);
      return true;
    }
    if (form == Form::compare && (in.bool_op == ptx::BoolOp::and_ || in.bool_op == ptx::BoolOp::or_)) {
      if (is_loaded(o[4])) return false;
      const bool value = in.bool_op == ptx::BoolOp::and_;
      use(o[2], where(demand, o[4], value, pc));
      use(o[3], where(demand, o[4], value, pc));
      use(o[4], demand);
      return true;
    }
    const bool is_and = in.opcode == ptx::Opcode::And, is_or = in.opcode == ptx::Opcode::Or;
    if ((!is_and && !is_or) || in.type != ptx::Type::pred || is_loaded(o[1]) == is_loaded(o[2])) return false;
    const std::size_t loaded = is_loaded(o[1]) ? 1 : 2;
    use(o[loaded], where(demand, o[3 - loaded], is_and, pc));
    use(o[3 - loaded], demand);
    return true;
  }

  void note_load(std::uint32_t pc, const Demand& demand) {
    if (number_ == kMostLoads) return;
    std::map<std::uint32_t, Pick> at;
    for (std::uint32_t w = 0; w < demand.ways.size(); ++w) {
      for (const Condition& condition : demand.ways[w]) {
        Pick& pick = at.try_emplace(condition.at, Pick{.load = pc, .predicate = condition.predicate}).first->second;
        (condition.value ? pick.if_true : pick.if_false) |= 1u << w;
      }
    }
    at.rbegin()->second.is_last = true;
    for (const auto& [where, pick] : at) out_.picks[where].push_back(pick);
    out_.loads[pc] = {number_++, (1u << demand.ways.size()) - 1};
  }

  static constexpr std::uint32_t kMostLoads = 64;  // of a block: each is held until its last pick

  const std::vector<Instruction>& code_;
  const BasicBlock& block_;
  std::uint32_t index_ = 0;  // of the block
  const BlockUses& uses_;
  Speculation& out_;
  bool any_ = false;               // whether the block has a load that may be speculative
  std::map<int, bool> loaded_;     // registers whose value depends on such a load
  std::map<int, Demand> demands_;  // by such a register: the uses of its value
  std::set<int> conditional_;      // registers whose demand has ways, or has had some
  std::uint32_t number_ = 0;
};

}  // namespace

Speculation find_speculation(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                             const BlockUses& uses, std::uint32_t called_from) {
  Speculation out;
  const auto is_one = [](const Instruction& in) { return may_be_speculative(in); };
  if (std::none_of(function.instructions.begin(), function.instructions.end(), is_one)) return out;
  for (std::uint32_t b = 0; b < blocks.size() && blocks[b].first < called_from; ++b)
    BlockDemands(function, blocks, b, uses, out).run();
  return out;
}

}  // namespace roofwalk::vgpu
