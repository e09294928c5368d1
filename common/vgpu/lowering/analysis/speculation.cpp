#include "common/vgpu/lowering/analysis/speculation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

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
  const bool is_checked = in.space == Space::shared || in.space == Space::generic;
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

// Whether a check of shared memory may be made after this instruction instead of before it.
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

constexpr std::uint32_t kMostLoads = 64;  // of a block, and across blocks: each is held until its last pick

// Adds the picks of a held load.
void add_picks(const Demand& demand, std::uint32_t number, Speculation& out) {
  std::map<std::uint32_t, Pick> at;
  for (std::uint32_t w = 0; w < demand.ways.size(); ++w) {
    for (const Condition& condition : demand.ways[w]) {
      Pick& pick = at.try_emplace(condition.at, Pick{.number = number, .predicate = condition.predicate}).first->second;
      (condition.value ? pick.if_true : pick.if_false) |= 1u << w;
    }
  }
  at.rbegin()->second.is_last = true;
  for (const auto& [where, pick] : at) out.picks[where].push_back(pick);
}
std::uint32_t ways_of(const Demand& demand) { return (1u << demand.ways.size()) - 1; }

struct Code {
  const std::vector<Instruction>& instructions;
  const std::vector<BasicBlock>& blocks;
  const BlockUses& uses;
  std::vector<bool> is_handed_on;  // by register: it passes values from function to function, unseen by `uses`

  bool is_wanted_in(int reg, std::uint32_t block) const {
    return block != kExitBlock && uses.is_wanted_in(static_cast<std::size_t>(reg), block);
  }
  bool is_wanted_behind(int reg, const BasicBlock& block) const {
    return std::any_of(block.successors.begin(), block.successors.end(),
                       [&](std::uint32_t to) { return is_wanted_in(reg, to); });
  }
};

// Visits a basic block backwards, and keeps for each register who uses its value.
class BlockDemands {
 public:
  // `incoming`: registers that were loaded in other blocks and are checked here.
  BlockDemands(const Code& code, std::uint32_t index, Speculation& out, const std::set<int>& incoming = {})
      : all_(code), code_(code.instructions), block_(code.blocks[index]), out_(out), incoming_(incoming) {
    find_loaded();
  }

  // Finds the block's own loads that may be speculative. Returns their number.
  std::uint32_t find_held() {
    if (any_) visit_all();
    return number_;
  }

  // Returns the uses of each incoming register in this block. If the block does what a check must not follow, it makes
  // the checks for the next blocks.
  std::map<int, Demand> incoming_demands() {
    notes_loads_ = false;
    visit_all();
    std::map<int, Demand> out;
    for (const int reg : incoming_) out[reg] = demand_for(reg);
    return out;
  }

 private:
  void visit_all() {
    const auto first = code_.begin() + block_.first;
    const bool is_still = std::all_of(first, first + block_.count, leaves_memory_alone);
    for (const auto& [reg, is_loaded] : loaded_) {
      if (!incoming_.contains(reg))
        use(reg, demand_of_next_blocks(reg));
      else if (!is_still)
        use(reg, {.all = all_.is_wanted_behind(reg, block_)});
    }
    for (std::uint32_t pc = block_.first + block_.count; pc-- > block_.first;) visit(pc);
  }

  static constexpr std::size_t kMostConditions = 4;  // of a way; more are left out, so that more lanes are checked

  // Finds the registers whose value depends on a load of this block, or on an incoming one.
  void find_loaded() {
    for (const int reg : incoming_) loaded_[reg] = true;
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
    const auto wants = [&](std::uint32_t to) { return all_.is_wanted_in(reg, to); };
    const auto& next = block_.successors;
    if (next.size() > 2 || all_.is_handed_on[static_cast<std::size_t>(reg)]) return {.all = true};
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
    if (!notes_loads_ || number_ == kMostLoads) return;
    add_picks(demand, number_, out_);
    out_.loads[pc] = {number_++, ways_of(demand)};
  }

  const Code& all_;
  const std::vector<Instruction>& code_;
  const BasicBlock& block_;
  Speculation& out_;
  const std::set<int> incoming_;
  bool notes_loads_ = true;
  bool any_ = false;               // whether the block has a load that may be speculative
  std::map<int, bool> loaded_;     // registers whose value depends on such a load
  std::map<int, Demand> demands_;  // by such a register: the uses of its value
  std::set<int> conditional_;      // registers whose demand has ways, or has had some
  std::uint32_t number_ = 0;
};

// Finds loads whose value only other blocks use: at least one of them for some lanes only, or none on all ways.
class AcrossBlocks {
 public:
  // `numbers`: by block, how many loads are held there.
  AcrossBlocks(const Code& code, const std::vector<LinkedPart>& parts, std::vector<std::uint32_t> numbers,
               Speculation& out)
      : code_(code), numbers_(std::move(numbers)), out_(out), writes_(code.is_handed_on.size()) {
    for (const Instruction& in : code.instructions)
      for_each_result(in, [&](int reg) { ++writes_[static_cast<std::size_t>(reg)]; });
    std::set<std::uint32_t> starts{0};
    for (const LinkedPart& part : parts) starts.insert(part.first);
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b) {
      if (starts.contains(code.blocks[b].first)) entries_.push_back(b);
    }
  }

  void run() {
    find_candidates();
    if (demands_.empty()) return;
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      std::set<int> incoming;
      for (const auto& [reg, load] : load_of_) {
        if (code_.is_wanted_in(reg, b)) incoming.insert(reg);
      }
      if (incoming.empty()) continue;
      for (const auto& [reg, demand] : BlockDemands(code_, b, out_, incoming).incoming_demands()) {
        if (!demand.is_none()) demands_[load_of_.at(reg)][b].add(demand);
      }
    }
    hold();
  }

 private:
  void find_candidates() {
    for (std::uint32_t b = 0; b < code_.blocks.size(); ++b) {
      const BasicBlock& block = code_.blocks[b];
      for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
        if (demands_.size() == kMostLoads) return;
        if (!may_be_held(pc, b)) continue;
        demands_[pc];
        for_each_result(code_.instructions[pc], [&](int reg) { load_of_[reg] = pc; });
      }
    }
  }

  // A register with another writer, or one that is read before it is written, may hold another value than the load's.
  bool is_only_of_load(int reg, std::uint32_t b) const {
    if (writes_[static_cast<std::size_t>(reg)] != 1 || code_.is_handed_on[static_cast<std::size_t>(reg)]) return false;
    return !code_.is_wanted_in(reg, b) &&
           std::none_of(entries_.begin(), entries_.end(), [&](std::uint32_t e) { return code_.is_wanted_in(reg, e); });
  }

  bool may_be_held(std::uint32_t pc, std::uint32_t b) const {
    const Instruction& in = code_.instructions[pc];
    if (!may_be_speculative(in) || in.space == Space::generic || out_.loads.contains(pc)) return false;
    std::set<int> loaded;  // several registers, if it loads a vector
    for_each_result(in, [&](int reg) { loaded.insert(reg); });
    const BasicBlock& block = code_.blocks[b];
    const auto is_own = [&](int reg) { return is_only_of_load(reg, b); };
    const auto is_wanted = [&](int reg) { return code_.is_wanted_behind(reg, block); };
    if (!std::all_of(loaded.begin(), loaded.end(), is_own) || std::none_of(loaded.begin(), loaded.end(), is_wanted))
      return false;
    const auto first = code_.instructions.begin() + pc + 1, end = first + (block.first + block.count - pc - 1);
    return std::all_of(first, end, [&](const Instruction& behind) {
      bool is_used = false;
      for_each_source(behind, [&](int source) { is_used = is_used || loaded.contains(source); });
      return !is_used && leaves_memory_alone(behind);
    });
  }

  // Whether one of the blocks that use a load's value lies on all ways from the load.
  bool is_surely_used(std::uint32_t load, const std::map<std::uint32_t, Demand>& demands) const {
    if (demands.empty()) return true;  // nobody looks at it
    const auto& blocks = code_.blocks;
    const auto behind = std::upper_bound(blocks.begin(), blocks.end(), load,
                                         [](std::uint32_t pc, const BasicBlock& block) { return pc < block.first; });
    for (std::uint32_t at = (behind - 1)->reconvergence; at != kExitBlock; at = blocks[at].reconvergence) {
      if (demands.contains(at)) return true;
    }
    return false;
  }

  void hold() {
    struct Held {
      std::uint32_t load, block, number;
      const Demand* demand;
    };
    std::vector<Held> held;
    for (const auto& [load, demands] : demands_) {
      const bool picks = std::any_of(demands.begin(), demands.end(), [](const auto& each) { return !each.second.all; });
      if (!picks && is_surely_used(load, demands)) continue;
      for (const auto& [b, demand] : demands) held.push_back({load, b, numbers_[b]++, &demand});
    }
    // Behind the numbers of loads that are held within a block.
    std::uint32_t number = numbers_.empty() ? 0 : *std::max_element(numbers_.begin(), numbers_.end());
    for (const Held& each : held) {
      const auto [load, is_new] = out_.loads.try_emplace(each.load, SpeculativeLoad{.number = number, .ways = 0});
      number += is_new ? 1 : 0;
      out_.taken_up[each.block].push_back({load->second.number, each.number, ways_of(*each.demand)});
      if (!each.demand->all) add_picks(*each.demand, each.number, out_);
    }
  }

  const Code& code_;
  std::vector<std::uint32_t> numbers_;
  Speculation& out_;
  std::vector<std::uint32_t> writes_;     // by register: the instructions that write it
  std::vector<std::uint32_t> entries_;    // the first blocks of the kernel and of functions
  std::map<int, std::uint32_t> load_of_;  // by register with a value of a load that may be held
  std::map<std::uint32_t, std::map<std::uint32_t, Demand>> demands_;  // by such a load, and by block
};

}  // namespace

Speculation find_speculation(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                             const BlockUses& uses, const std::vector<LinkedPart>& parts) {
  Speculation out;
  const auto is_one = [](const Instruction& in) { return may_be_speculative(in); };
  if (std::none_of(function.instructions.begin(), function.instructions.end(), is_one)) return out;
  Code code{function.instructions, blocks, uses, std::vector<bool>(function.registers.size())};
  for (const LinkedPart& part : parts) {
    for (const auto* list : {&part.parameters, &part.results}) {
      for (const Operand& operand : *list)
        for_each_register(operand, [&](int reg) { code.is_handed_on[static_cast<std::size_t>(reg)] = true; });
    }
  }
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t b = 0; b < blocks.size(); ++b) numbers.push_back(BlockDemands(code, b, out).find_held());
  AcrossBlocks(code, parts, std::move(numbers), out).run();
  return out;
}

}  // namespace roofwalk::vgpu
