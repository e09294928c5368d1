// The operations of a basic block in the order of ptxas' machine code, with those PTX operations added that this code
// lacks.
#include <algorithm>
#include <array>
#include <limits>

#include "common/vgpu/timing/scheduling/static_scheduler.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;

// Whether a machine instruction is the `single` operation of its PTX instruction, by the same rule as counts() in
// sass_map.cpp: the unit must be the same, and for memory also the kind.
bool stands_for(const Operation& found, const Operation& single) {
  return found.unit == single.unit && (single.unit != Unit::memory || found.kind == single.kind);
}

// Returns the class of the machine instruction that performs an operation of this kind. Other machine instructions for
// the same PTX instruction only take issue slots.
Operation::Class class_of(TimedKind kind) {
  switch (kind) {
    case TimedKind::branch:
    case TimedKind::leave:
      return Operation::Class::branch;
    case TimedKind::barrier:
      return Operation::Class::barrier;
    case TimedKind::async_commit:
      return Operation::Class::async_commit;
    case TimedKind::async_wait:
      return Operation::Class::async_wait;
    case TimedKind::sleep:
      return Operation::Class::sleep;
    case TimedKind::load_constant:
      return Operation::Class::load_constant;
    default:
      return Operation::Class::memory;
  }
}

}  // namespace

std::vector<StaticScheduler::Item> StaticScheduler::items_of(const BlockCode& form, const Lack& lack) const {
  std::vector<std::uint32_t> total(block_->count), done(block_->count), products(block_->count), mains(block_->count),
      singles(block_->count);
  // By PTX instruction: index of the first machine instruction on the unit of its single operation.
  std::vector<std::size_t> first_own(block_->count, kNever);
  for (std::size_t place = form.ops.size(); place-- > 0;) {
    const BlockOp& op = form.ops[place];
    if (op.extra) continue;
    const auto single = single_operation(code()[op.pc]);
    if (single && operation_info(op.operation).unit == single->unit) first_own[op.pc - block_->first] = place;
    singles[op.pc - block_->first] += single && stands_for(operation_info(op.operation), *single);
    ++total[op.pc - block_->first];
    mains[op.pc - block_->first] += is_main(op);
    products[op.pc - block_->first] += operation_info(op.operation).unit == Unit::tensor;
  }
  std::vector<bool> has_main(static_cast<std::size_t>(block_->count) * form.copies);
  std::vector<Item> items;
  for (std::size_t place = 0; place < form.ops.size(); ++place) {
    const BlockOp& op = form.ops[place];
    const Operation info = operation_info(op.operation);
    Item item;
    item.op.pc = op.pc;
    item.op.unit = info.unit;
    item.op.latency_cycles = latency_of(info);
    if (!op.extra) {
      const std::uint32_t i = op.pc - block_->first;
      const Instruction& in = code()[op.pc];
      const bool main = is_main(op);
      // A machine instruction for which is_main() holds is the last of its copy: the others for the same PTX
      // instruction come before it.
      const std::uint32_t copy = mains[i] == 0 ? copy_of(op.pc, done[i]++, total[i], form.copies)
                                               : copy_of(op.pc, std::min(done[i], mains[i] - 1), mains[i], form.copies);
      if (main) ++done[i];
      // Some operations beside the main one depend on nothing: those that prepare operands of, or pad, a matrix product
      // or a shuffle; constants made before other arithmetic; and code that prepares for divergence, wherever it is.
      const bool early = ptx::info(in.opcode).form == Form::alu && first_own[i] != kNever && place < first_own[i];
      const bool beside = (form_of(in) == Form::matrix_multiply && info.unit != Unit::tensor) ||
                          (form_of(in) == Form::shuffle && info.kind != Operation::Class::shuffle) || early ||
                          (info.unit == Unit::control && info.kind == Operation::Class::other);
      if (!beside) item.node = static_cast<std::int32_t>(copy * block_->count + i);
      item.constant = info.kind == Operation::Class::constant || info.kind == Operation::Class::load_constant;
      if (main && !has_main[static_cast<std::size_t>(item.node)]) {
        has_main[static_cast<std::size_t>(item.node)] = true;
        item.op = main_op(op.pc, copy);
        item.constant = false;
      }
      item.op.register_reads = op.register_reads;
      if (info.unit == Unit::tensor)
        item.op.tensor_fmas = static_cast<std::uint32_t>(tensor_fmas(in) * form.copies / products[i]);
    }
    items.push_back(item);
    if (info.kind == Operation::Class::call) add_steps(expansion_of(code()[op.pc]), item, items);
  }
  add_missing(form.copies, has_main, std::move(singles), lack.accesses, items);
  add_issues(Unit::integer, lack.issues, items);
  return items;
}

// Adds the machine instructions of a subroutine, one after the other, as operations of the PTX instruction to which the
// item `of` belongs.
void StaticScheduler::add_steps(std::span<const Cost> steps, const Item& of, std::vector<Item>& items) const {
  for (const Cost& step : steps) {
    Item item = of;
    item.constant = false;
    item.op.unit = step.unit;
    item.op.latency_cycles = latency_of(Operation{step.unit, Operation::Class::other});
    items.insert(items.end(), static_cast<std::size_t>(step.issues), item);
  }
}

// Adds operations that only take issue slots.
void StaticScheduler::add_issues(Unit unit, std::uint64_t count, std::vector<Item>& items) const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint16_t>::max();  // of one operation
  for (; count != 0; count -= std::min(count, kMost)) {
    Item item;
    item.op.pc = block_->first;
    item.op.unit = unit;
    item.op.issues = static_cast<std::uint16_t>(std::min(count, kMost));
    item.op.latency_cycles = latency_of(Operation{unit, Operation::Class::other});
    items.push_back(item);
  }
}

// Adds issue slots to operations that came from rules, until they have at least as many on each unit as the machine
// code that was found, or as what is `lost` of it: the machine code has spills and other work that the PTX does not
// show.
void StaticScheduler::fill_up(std::span<const BlockCode> forms, const IssuesOfUnits& lost,
                              std::vector<Item>& items) const {
  IssuesOfUnits wanted = lost, issued{};
  for (const BlockCode& form : forms) {
    IssuesOfUnits count{};
    for (const BlockOp& op : form.ops) ++count[place_of(operation_info(op.operation).unit)];
    for (std::size_t unit = 0; unit < kUnitCount; ++unit)
      wanted[unit] = std::max(wanted[unit], count[unit] / form.copies + lost[unit]);
  }
  for (const Item& item : items) issued[place_of(item.op.unit)] += item.op.issues;
  for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
    if (wanted[unit] > issued[unit]) add_issues(static_cast<Unit>(unit), wanted[unit] - issued[unit], items);
  }
}

bool StaticScheduler::is_main(const BlockOp& op) const {
  const TimedKind kind = kind_of(code()[op.pc]);
  return kind != TimedKind::compute && operation_info(op.operation).kind == class_of(kind);
}

// Returns the copy to which the k-th of `total` operations of a PTX instruction belongs. If there are fewer operations
// than copies, those that carry a value around the loop belong to the last copies, the others to the first copies.
std::uint32_t StaticScheduler::copy_of(std::uint32_t pc, std::uint32_t k, std::uint32_t total,
                                       std::uint32_t copies) const {
  const std::uint32_t iterations = program_.shared_access(pc).iterations;
  if (iterations > 1) {  // ptxas may load the first words once more, before the wide load that has them
    const std::uint32_t repeated = total - std::min(total, copies / iterations);
    return std::min((k - std::min(k, repeated)) * iterations, copies - 1);
  }
  if (total >= copies) return static_cast<std::uint32_t>(std::uint64_t{k} * copies / total);
  bool around = kind_of(code()[pc]) == TimedKind::branch || ptx::info(code()[pc].opcode).form == Form::compare;
  for_each_result(code()[pc], [&](int reg) { around = around || slot_of_[reg] != kReadySlot; });
  return around ? copies - total + k : k;
}

// Adds operations that ptxas' code seems to lack: barriers, waits for copies, and arithmetic that is one machine
// instruction per copy, all of which every warp must execute; and the accesses that `lacks` marks. `singles`: by
// instruction, how many of its machine instructions are its single operation.
void StaticScheduler::add_missing(std::uint32_t copies, const std::vector<bool>& has_main,
                                  std::vector<std::uint32_t> singles, const std::vector<bool>& lacks,
                                  std::vector<Item>& items) const {
  std::vector<Item> missing;
  for (std::uint32_t node = 0; node < copies * block_->count; ++node) {
    const std::uint32_t pc = block_->first + node % block_->count;
    const TimedKind kind = kind_of(code()[pc]);
    const bool waits = kind == TimedKind::barrier || kind == TimedKind::async_commit || kind == TimedKind::async_wait ||
                       kind == TimedKind::sleep;
    const auto single = single_operation(code()[pc]);
    const bool computes = single && kind == TimedKind::compute && !fused_[pc];
    if (computes && ++singles[node % block_->count] > copies) continue;
    if (waits || lacks[node % block_->count] ? has_main[node] : !computes) continue;
    Item item;
    item.op = main_op(pc, node / block_->count);
    item.node = static_cast<std::int32_t>(node);
    if (computes) {
      item.op.unit = single->unit;
      item.op.latency_cycles = latency_of(*single);
      if (single->unit == Unit::tensor) item.op.tensor_fmas = static_cast<std::uint32_t>(tensor_fmas(code()[pc]));
    }
    missing.push_back(item);
  }
  insert_in_ptx_order(missing, items);
}

// Inserts each item of `more` before the first item of a later node. `more` must be sorted by node.
void StaticScheduler::insert_in_ptx_order(const std::vector<Item>& more, std::vector<Item>& items) {
  if (more.empty()) return;
  std::vector<Item> all;
  all.reserve(items.size() + more.size());
  auto next = more.begin();
  for (const Item& item : items) {
    for (; next != more.end() && next->node < item.node; ++next) all.push_back(*next);
    all.push_back(item);
  }
  all.insert(all.end(), next, more.end());
  items = std::move(all);
}

std::uint16_t StaticScheduler::latency_of(const Operation& info) const {
  if (info.kind == Operation::Class::shuffle) return cycles(machine_.shuffle_latency_cycles);
  switch (info.unit) {
    case Unit::memory:  // constants, and accesses for another instruction: spills, retries
      return cycles(machine_.shared_latency_cycles);
    case Unit::fp64:
      return cycles(machine_.fp64_latency_cycles);
    case Unit::special:
      return cycles(machine_.special_latency_cycles);
    case Unit::tensor:
      return cycles(machine_.tensor_latency_cycles);
    default:
      return cycles(machine_.alu_latency_cycles);
  }
}

std::uint16_t StaticScheduler::latency_of(const Instruction& in, Unit unit) const {
  const bool shuffle = form_of(in) == Form::shuffle;
  return latency_of(Operation{unit, shuffle ? Operation::Class::shuffle : Operation::Class::other});
}

}  // namespace roofwalk::vgpu
