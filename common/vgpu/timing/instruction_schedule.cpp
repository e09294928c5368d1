#include "common/vgpu/timing/instruction_schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/vgpu/program/instructions.h"
#include "common/vgpu/timing/scheduling/static_scheduler.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;

bool is_arithmetic(Unit unit) { return unit != Unit::memory && unit != Unit::control; }

std::uint64_t arithmetic_of(std::span<const Cost> costs) {
  std::uint64_t issues = 0;
  for (const Cost& cost : costs) issues += is_arithmetic(cost.unit) ? static_cast<std::uint64_t>(cost.issues) : 0;
  return issues;
}

}  // namespace

ProgramSchedule StaticScheduler::run() {
  find_slots();
  find_stops();
  find_folded();
  find_fused();
  ProgramSchedule out;
  out.blocks.resize(program_.blocks.size());
  if (machine_code_.empty()) {
    for (std::uint32_t b = 0; b < out.blocks.size(); ++b) {
      hold({b, 1, program_.blocks[b]});
      find_sources(1);
      out.blocks[b].push_back(emit(items_by_rules()));
    }
  } else {
    const FoundCode code = find_block_code(*program_.function, program_.blocks, machine_code_);
    add_merged(code, out);
    for (std::uint32_t b = 0; b < out.blocks.size(); ++b) {
      hold({b, 1, program_.blocks[b]});
      add_forms(code.forms[b], code.lost[b], out);
    }
  }
  out.slots = slots_;
  return out;
}

void StaticScheduler::hold(MergedBlock merged) {
  merged_ = std::move(merged);
  block_ = &merged_.block;
}

// Adds the schedules of a basic block. If the machine code lacks some of the PTX's operations, they are added; if it
// lacks most of them, the rules of ptxas_rules.cpp give the operations instead. Code can be missing because ptxas
// merges two equal arms of a branch into one, and its line information names only one of the two.
void StaticScheduler::add_forms(const std::vector<BlockCode>& forms, const IssuesOfUnits& lost, ProgramSchedule& out) {
  for (const BlockCode& form : forms) {
    if (const Lack lack = lack_of(form); !lack.most) add(form, lack, lost, out);
  }
  std::vector<Schedule>& schedules = out.blocks[merged_.first];
  if (!schedules.empty() && schedules.back().copies == 1 && schedules.back().members == 1) return;
  find_sources(1);
  std::vector<Item> items = items_by_rules();
  fill_up(forms, lost, items);
  schedules.push_back(emit(std::move(items)));
}

void StaticScheduler::add(const BlockCode& form, const Lack& lack, const IssuesOfUnits& lost, ProgramSchedule& out) {
  find_sources(form.copies);
  if (merged_.members > 1 && merged_waits_left_ == 0) return;  // the merged block's members then run one by one
  std::vector<Item> items = items_of(form, lack);
  for (std::size_t unit = 0; unit < kUnitCount; ++unit)
    add_issues(static_cast<Unit>(unit), lost[unit] * form.copies, items);
  Schedule schedule = emit(std::move(items));
  schedule.copies = form.copies;
  schedule.members = merged_.members;
  out.parts = std::max(out.parts, form.copies * merged_.members);
  out.blocks[merged_.first].push_back(std::move(schedule));
}

// Adds the schedules of basic blocks that run as one. `alone`: the machine code that was found for each basic block by
// itself.
void StaticScheduler::add_merged(const FoundCode& alone, ProgramSchedule& out) {
  const std::vector<MergedBlock> merged = merge_blocks(program_, alone.branches);
  if (merged.size() == program_.blocks.size()) return;
  std::vector<BasicBlock> blocks;
  for (const MergedBlock& each : merged) blocks.push_back(each.block);
  const FoundCode code = find_block_code(*program_.function, blocks, machine_code_);
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (merged[i].members == 1 || merged_waits_left_ == 0) continue;
    std::set<std::uint32_t> wanted;
    for (std::uint32_t b = merged[i].first; b < merged[i].first + merged[i].members; ++b) {
      for (const BlockCode& form : alone.forms[b]) wanted.merge(accesses_of(form));
    }
    hold(merged[i]);
    for (const BlockCode& form : code.forms[i]) {
      if (accesses_of(form) != wanted || !is_straight(form) || !has_short_arms(form)) continue;
      if (const Lack lack = lack_of(form); !lack.most) add(form, lack, code.lost[i], out);
    }
  }
}

// Finds the operations that a form lacks. Every PTX access must appear in every copy, except that ptxas merges accesses
// within 16 bytes of shared memory, and keeps small local arrays in registers. Of arithmetic, ptxas folds a part, but
// about a third of it must appear, unless there is very little.
StaticScheduler::Lack StaticScheduler::lack_of(const BlockCode& form) const {
  constexpr std::uint32_t kNeighbours = 4;  // words
  // ptxas may shrink arithmetic by the factor kShrinks, and each copy by kFewer further instructions.
  constexpr std::uint32_t kShrinks = 3, kFewer = 4;
  std::vector<std::uint32_t> mains(block_->count), ops(block_->count);
  std::uint64_t issues = 0, by_rules = 0, shared = 0, shared_mains = 0;
  using Neighbours = std::tuple<Form, int, std::string_view, std::int64_t>;
  std::map<Neighbours, std::uint32_t> neighbours;  // machine accesses of each group
  std::vector<const Neighbours*> group(block_->count);
  Lack lack;
  lack.accesses.resize(block_->count);
  lack.most = true;
  for (const BlockOp& op : form.ops) {
    if (op.extra) continue;
    lack.most = false;
    mains[op.pc - block_->first] += is_main(op);
    ++ops[op.pc - block_->first];
    const Operation info = operation_info(op.operation);
    issues += is_arithmetic(info.unit);
    if (info.kind == Operation::Class::call) issues += arithmetic_of(expansion_of(code()[op.pc]));
  }
  for (std::uint32_t i = 0; i < block_->count; ++i) {
    const Instruction& in = instruction(i);
    by_rules += arithmetic_of(costs_by_rules(block_->first + i));
    if (!is_memory(in) || kind_of(in) == TimedKind::compute) continue;
    if (in.space == ptx::Space::shared) {
      shared += form.copies;
      shared_mains += std::min(mains[i], form.copies);
      const auto address = std::find_if(in.operands.begin(), in.operands.end(),
                                        [](const Operand& o) { return o.kind == Operand::Kind::address; });
      if (address == in.operands.end()) continue;
      const auto found =
          neighbours.try_emplace({form_of(in), address->index, address->symbol, address->offset >> 4}).first;
      found->second += mains[i];
      group[i] = &found->first;
    } else {
      const bool in_registers = in.space == ptx::Space::local && mains[i] == 0 && ops[i] != 0;
      lack.accesses[i] = mains[i] < form.copies && !in_registers;
    }
  }
  const bool too_few = shared_mains * kNeighbours < shared;
  for (std::uint32_t i = 0; i < block_->count; ++i) {
    if (!is_memory(instruction(i)) || instruction(i).space != ptx::Space::shared) continue;
    if (kind_of(instruction(i)) == TimedKind::compute || node_merged_into(i) != kNowhere) continue;
    const std::uint32_t iterations = program_.shared_access(block_->first + i).iterations;
    lack.accesses[i] = too_few || (group[i] != nullptr && neighbours.at(*group[i]) * iterations < form.copies);
  }
  lack.most = lack.most || issues * kShrinks + kFewer * form.copies < by_rules * form.copies || lacks_a_wait(form);
  if (!lack.none() && issues < by_rules * form.copies) lack.issues = by_rules * form.copies - issues;
  return lack;
}

// Whether a basic block is a loop that looks at one place by plain loads, and the branch back is not in the machine
// code. ptxas makes one look of such a wait; the run has made others, too.
bool StaticScheduler::lacks_a_wait(const BlockCode& form) const {
  const std::uint32_t last = block_->first + block_->count - 1;
  if (!is_branch(last) || static_cast<std::uint32_t>(code()[last].operands[0].index) != block_->first) return false;
  if (std::any_of(form.ops.begin(), form.ops.end(), [&](const BlockOp& op) { return !op.extra && op.pc == last; }))
    return false;
  std::set<int> made;
  for (std::uint32_t pc = block_->first; pc < last; ++pc)
    for_each_result(code()[pc], [&](int reg) { made.insert(reg); });
  return std::any_of(block_->memory.begin(), block_->memory.end(), [&](std::uint32_t pc) {
    const Instruction& in = code()[pc];
    return form_of(in) == Form::load && !in.is_volatile && reaches_global(in) && !made.contains(in.operands[1].index);
  });
}

// Whether no branch inside the form skips a part of it.
bool StaticScheduler::is_straight(const BlockCode& form) const {
  const std::uint32_t end = block_->first + block_->count - 1;
  return std::none_of(form.ops.begin(), form.ops.end(),
                      [&](const BlockOp& op) { return !op.extra && op.pc != end && is_main(op) && is_branch(op.pc); });
}

// Whether ptxas may have predicated the basic blocks that a warp may skip. It does so with at most 9 stores or
// multiply-adds, or with 10 loads and their sums (ptxas 13.0, sm_80 and sm_90). Longer code has a branch around it,
// even if none was found.
bool StaticScheduler::has_short_arms(const BlockCode& form) const {
  constexpr std::uint32_t kMostOfAnArm = 32;
  std::vector<std::uint32_t> ops(merged_.members);
  for (const BlockOp& op : form.ops) {
    if (!op.extra) ++ops[member_of(op.pc)];
  }
  std::uint32_t reach = 0;  // the furthest member that a way around the present one leads to
  for (std::uint32_t i = 0; i + 1 < merged_.members; ++i) {
    if (i < reach && ops[i] > kMostOfAnArm * form.copies) return false;
    for (const std::uint32_t to : program_.blocks[merged_.first + i].successors) {
      if (to != merged_.first + i + 1) reach = std::max(reach, to - merged_.first);
    }
  }
  return true;
}

std::set<std::uint32_t> StaticScheduler::accesses_of(const BlockCode& form) const {
  std::set<std::uint32_t> out;
  for (const BlockOp& op : form.ops) {
    if (!op.extra && is_memory(code()[op.pc]) && is_main(op)) out.insert(op.pc);
  }
  return out;
}

// Returns the index of the member that contains an instruction.
std::uint32_t StaticScheduler::member_of(std::uint32_t pc) const {
  const auto begin = program_.blocks.begin() + merged_.first;
  const auto behind = std::upper_bound(begin, begin + merged_.members, pc,
                                       [](std::uint32_t at, const BasicBlock& block) { return at < block.first; });
  return static_cast<std::uint32_t>(behind - begin) - 1;
}

int StaticScheduler::memory_of(std::uint32_t pc) const {
  const auto& memory = program_.blocks[merged_.first + member_of(pc)].memory;
  const auto found = std::lower_bound(memory.begin(), memory.end(), pc);
  return found != memory.end() && *found == pc ? static_cast<int>(found - memory.begin()) : kNowhere;
}

// Makes the operation that stands for a PTX instruction itself: a memory access, barrier or branch.
TimedOp StaticScheduler::main_op(std::uint32_t pc, std::uint32_t copy) const {
  TimedOp op;
  op.kind = kind_of(code()[pc]);
  op.unit = cost_of(code()[pc]).unit;
  op.part = static_cast<std::uint16_t>(copy * merged_.members + member_of(pc));
  op.pc = pc;
  if (op.kind != TimedKind::compute) op.memory = memory_of(pc);
  if (op.kind == TimedKind::barrier) op.groups = barrier_of(code()[pc]);
  if (op.kind == TimedKind::async_wait) op.groups = groups_of(code()[pc]);
  if (op.kind == TimedKind::branch || op.kind == TimedKind::leave)
    op.latency_cycles = cycles(machine_.alu_latency_cycles);
  return op;
}

std::uint32_t operations_of(const Schedule& schedule) {
  std::uint32_t operations = operations_for_renames(schedule);
  for (const TimedOp& op : schedule.ops) operations += 1 + operations_for_operands(schedule, op);
  return operations;
}

ProgramSchedule schedule(const Machine& machine, const Program& program, std::span<const MachineOp> code,
                         int registers_per_thread) {
  ProgramSchedule out = StaticScheduler(machine, program, code, registers_per_thread).run();
  for (auto& schedules : out.blocks) {
    for (Schedule& one : schedules) {
      for (TimedOp& op : one.ops) {
        const bool is_shared = program.function->instructions[op.pc].space == ptx::Space::shared;
        op.shared_lanes = op.unit == Unit::memory && (is_shared || op.kind == TimedKind::compute);
      }
    }
  }
  return out;
}

}  // namespace roofwalk::vgpu
