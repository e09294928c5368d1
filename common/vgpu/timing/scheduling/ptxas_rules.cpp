// The operations of a basic block whose machine code is unknown: rules approximate how ptxas folds address arithmetic
// and hoists loads.
#include <algorithm>

#include "common/vgpu/timing/scheduling/static_scheduler.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

std::size_t result_of(const Instruction& in) { return static_cast<std::size_t>(in.operands[0].index); }

std::uint32_t words_of(const Instruction& load) {
  return static_cast<std::uint32_t>(std::max(ptx::size_bytes(load.type), 4)) / 4 * load.vector;
}

bool is_free_load(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::load && is_memory(in) && !in.is_volatile;
}

bool stops_loads(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::atomic:
    case Form::reduction:
    case Form::barrier:
    case Form::fence:
    case Form::call:
      return true;
    case Form::async_copy:
      return in.async != ptx::AsyncMode::copy;
    default:
      return in.is_volatile;
  }
}

}  // namespace

// Returns the instructions in PTX order, without those that issue nothing, and with loads hoisted as far as possible.
std::vector<StaticScheduler::Item> StaticScheduler::items_by_rules() const {
  std::vector<Item> items;
  for (const std::uint32_t i : hoist_loads()) {
    const std::uint32_t pc = block_->first + i;
    const Instruction& in = code()[pc];
    const Cost cost = cost_by_rules(pc);
    if (cost.issues == 0 && in.guard < 0) continue;
    Item item;
    item.op = main_op(pc, 0);
    item.op.unit = cost.unit;
    item.op.issues = static_cast<std::uint16_t>(std::max(cost.issues, 1));
    if (item.op.kind == TimedKind::compute) item.op.latency_cycles = latency_of(in, cost.unit);
    if (cost.unit == Unit::tensor) item.op.tensor_fmas = static_cast<std::uint32_t>(tensor_fmas(in));
    item.node = static_cast<std::int32_t>(i);
    const std::vector<Cost> steps = expansion_of(in);
    if (steps.empty()) {
      items.push_back(item);
    } else {
      item.op.issues = 1;
      add_steps(steps, item, items);
    }
  }
  return items;
}

Cost StaticScheduler::cost_by_rules(std::uint32_t pc) const {
  return folded_[pc] || fused_[pc] ? Cost{Unit::integer, 0}
         : scaled_[pc]             ? Cost{Unit::multiply, 1}
                                   : cost_of(code()[pc]);
}

std::vector<Cost> StaticScheduler::costs_by_rules(std::uint32_t pc) const {
  std::vector<Cost> steps = expansion_of(code()[pc]);
  if (steps.empty()) steps.push_back(cost_by_rules(pc));
  return steps;
}

// Finds address arithmetic that ptxas merges into other instructions: it folds the addition of a constant to an address
// into the access, and a widening product into the addition after it.
void StaticScheduler::find_folded() {
  folded_.assign(code().size(), false);
  scaled_.assign(code().size(), false);
  enum : std::uint8_t { address = 1, addition = 2, other = 4 };
  std::vector<std::uint8_t> uses(program_.function->registers.size());
  const auto is_addition = [](const Instruction& in) {
    return ptx::computes(in, ptx::kAdds) && ptx::size_bytes(in.type) == 8;
  };
  const auto has_constant = [](const Instruction& in) {
    return in.operands.size() == 3 && in.operands[2].kind == Operand::Kind::immediate;
  };
  const auto one_result = [&](const Instruction& in) {
    return in.guard < 0 && !in.operands.empty() && in.operands[0].kind == Operand::Kind::reg &&
           slot_of_[result_of(in)] == kReadySlot;
  };
  for (auto pc = static_cast<std::uint32_t>(code().size()); pc-- > 0;) {
    const Instruction& in = code()[pc];
    if (is_addition(in) && has_constant(in) && one_result(in)) folded_[pc] = uses[result_of(in)] == address;
    if (in.mul == ptx::MulMode::wide && ptx::computes(in, ptx::kMultiplies) && one_result(in))
      folded_[pc] = uses[result_of(in)] == addition;
    for (std::size_t i = result_count(in); i < in.operands.size(); ++i) {
      const bool is_address = in.operands[i].kind == Operand::Kind::address || folded_[pc];
      const std::uint8_t use = is_address ? address : is_addition(in) && !has_constant(in) ? addition : other;
      for_each_register(in.operands[i], [&](int reg) { uses[static_cast<std::size_t>(reg)] |= use; });
    }
  }
  std::vector<bool> product(uses.size());
  for (std::uint32_t pc = 0; pc < code().size(); ++pc) {
    const Instruction& in = code()[pc];
    if (folded_[pc] && ptx::computes(in, ptx::kMultiplies)) product[result_of(in)] = true;
    if (!is_addition(in) || folded_[pc]) continue;
    for_each_source(in, [&](int reg) { scaled_[pc] = scaled_[pc] || product[static_cast<std::size_t>(reg)]; });
  }
}

// Finds float products that only sums and differences read. ptxas fuses each of these with the product into an FMA if
// neither names a rounding (PTX ISA, `mul` and `add`), and the FMA stands for the sum.
void StaticScheduler::find_fused() {
  const auto may_fuse = [](const Instruction& in, ptx::TraitSet what) {
    return ptx::computes(in, what) && ptx::is_float(in.type) && in.rounding == ptx::Rounding::none && in.guard < 0;
  };
  std::vector<bool> is_summed(program_.function->registers.size()), is_read_otherwise(is_summed.size());
  for (const Instruction& in : code()) {
    std::vector<bool>& read = may_fuse(in, ptx::kAdds) || may_fuse(in, ptx::kSubtracts) ? is_summed : is_read_otherwise;
    for_each_source(in, [&](int reg) { read[static_cast<std::size_t>(reg)] = true; });
  }
  fused_.assign(code().size(), false);
  for (std::uint32_t pc = 0; pc < code().size(); ++pc) {
    if (!may_fuse(code()[pc], ptx::kMultiplies)) continue;
    const auto product = static_cast<std::size_t>(result_of(code()[pc]));
    fused_[pc] = is_summed[product] && !is_read_otherwise[product] && slot_of_[product] == kReadySlot;
  }
}

// Moves loads up to the first load of their run. A later load joins the run if it needs none of the run's results, if
// no store, atomic or barrier holds it back, and if a register is left for its result. The load's address arithmetic is
// moved up with it.
std::vector<std::uint32_t> StaticScheduler::hoist_loads() const {
  constexpr std::uint32_t kReach = 1000;  // the farthest that a load moves, in instructions
  std::vector<std::uint32_t> order;
  std::vector<bool> done(block_->count);
  for (std::uint32_t from = 0; from < block_->count; ++from) {
    if (done[from]) continue;
    if (!is_free_load(instruction(from))) {
      done[from] = true;
      order.push_back(from);
      continue;
    }
    const std::uint32_t end = std::min(block_->count, from + kReach);
    std::vector<bool> waits(end - from);  // whether it is a load or needs one; no load that needs it joins the run
    bool stored = false;
    std::uint32_t words = 0;  // loaded by the run so far
    for (std::uint32_t i = from; i < end && !stops_loads(instruction(i)); ++i) {
      if (done[i]) continue;
      const Instruction& in = instruction(i);
      const bool load = is_free_load(in);
      const std::uint32_t own_words = load ? words_of(in) : 0;
      bool late = false;
      for (const Value source : sources_[i]) {
        // This source and all after it come from before the basic block.
        if (source < 0 && stops_[block_->first + i]) break;
        late = late || (source >= static_cast<Value>(from) && waits[static_cast<std::uint32_t>(source) - from]);
      }
      if (load && !late && (!stored || in.non_coherent) && (i == from || words + own_words <= most_hoisted_)) {
        take(i, done, order);
        words += own_words;
      }
      waits[i - from] = load || late;
      stored = stored || form_of(in) == Form::store || form_of(in) == Form::fragment_store ||
               in.async == ptx::AsyncMode::copy;
    }
  }
  return order;
}

// Appends to `order` instruction `i`, preceded by those instructions that it depends on and that `order` does not
// contain yet.
void StaticScheduler::take(std::uint32_t i, std::vector<bool>& done, std::vector<std::uint32_t>& order) const {
  std::vector<std::uint32_t> chain{i};
  done[i] = true;
  for (std::size_t at = 0; at < chain.size(); ++at) {
    for (const Value source : sources_[chain[at]]) {
      if (source < 0 || done[static_cast<std::size_t>(source)]) continue;
      done[static_cast<std::size_t>(source)] = true;
      chain.push_back(static_cast<std::uint32_t>(source));
    }
  }
  std::sort(chain.begin(), chain.end());
  order.insert(order.end(), chain.begin(), chain.end());
}

}  // namespace roofwalk::vgpu
