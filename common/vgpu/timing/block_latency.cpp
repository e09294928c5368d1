#include "common/vgpu/timing/block_latency.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "common/base/check.h"

namespace roofwalk::vgpu {
namespace {

// Whether an operation waits for earlier stores. A fence beyond block scope does; stores themselves do not wait.
bool waits_for_stores(const Program& program, const TimedOp& op) {
  const ptx::Instruction& in = program.function->instructions[op.pc];
  return ptx::info(in.opcode).form == ptx::Form::fence && !in.of_block;
}

std::uint32_t latency_of(const Machine& machine, const Program& program, const TimedOp& op) {
  switch (op.kind) {
    case TimedKind::load_constant:
      return static_cast<std::uint32_t>(machine.constant_l1_latency_cycles);
    case TimedKind::load:
    case TimedKind::atomic:
      if (program.function->instructions[op.pc].space == ptx::Space::shared)
        return static_cast<std::uint32_t>(machine.shared_latency_cycles);
      return static_cast<std::uint32_t>(machine.l2_latency_cycles);
    case TimedKind::async_wait:
      return static_cast<std::uint32_t>(machine.l2_latency_cycles);
    case TimedKind::barrier:
      return static_cast<std::uint32_t>(machine.barrier_latency_cycles);
    case TimedKind::compute:
      if (waits_for_stores(program, op)) return static_cast<std::uint32_t>(machine.l2_latency_cycles);
      return op.latency_cycles;
    case TimedKind::branch:
      return op.latency_cycles;
    case TimedKind::sleep:  // its time is known when it runs (PathSums)
    case TimedKind::store:
    case TimedKind::async_copy:
    case TimedKind::async_commit:
    case TimedKind::leave:
      return 0;
  }
  return 0;
}

// Returns for how long an operation occupies its unit, in cycles.
double unit_cycles(const Machine& machine, const TimedOp& op) {
  const double interval = op.shared_lanes ? shared_interval(machine) : unit_interval(machine, op.unit);
  return interval * (op.unit == Unit::tensor ? op.tensor_fmas : op.issues);
}

constexpr std::uint32_t kUnissued = ~0u;

// Returns the latency of a schedule if operations issue in order, each when its sources and its unit are ready.
// `ready`: scratch memory for the cycle when each slot is ready; all 0 on entry and on return. `issued`: receives, by
// PTX instruction, the cycle in which it is first issued as other than arithmetic, or as a fence; kUnissued on entry.
std::uint32_t latency_of(const Machine& machine, const Program& program, const Schedule& schedule,
                         std::vector<std::uint32_t>& ready, std::vector<std::uint32_t>* issued = nullptr) {
  std::uint32_t now = 0, end = 0, latest = 0;  // latest: when all results so far are ready
  std::array<double, kUnitCount> opens{};      // by unit: when it can take another operation
  for (const TimedOp& op : schedule.ops) {
    const std::span operands(schedule.operands.data() + op.first_operand,
                             std::size_t{op.result_count} + op.source_count);
    for (const std::uint16_t source : operands.subspan(op.result_count)) now = std::max(now, ready[source]);
    if (op.waits_for_all) now = std::max(now, latest);
    double& opens_at = opens[static_cast<std::size_t>(op.unit)];
    now = std::max(now, static_cast<std::uint32_t>(opens_at));
    opens_at = std::max(opens_at, static_cast<double>(now)) + unit_cycles(machine, op);
    const bool is_fence = op.kind == TimedKind::compute && waits_for_stores(program, op);
    if (issued != nullptr && (op.kind != TimedKind::compute || is_fence))
      (*issued)[op.pc] = std::min((*issued)[op.pc], now);
    now += op.issues;
    const std::uint32_t done = now + latency_of(machine, program, op);
    if (is_fence) now = done;  // later operations wait as well
    for (const std::uint16_t result : operands.first(op.result_count)) {
      if (result != kReadySlot) ready[result] = result == kOverflowSlot ? std::max(ready[result], done) : done;
      latest = std::max(latest, done);
    }
    end = std::max(end, done);
  }
  for (const TimedOp& op : schedule.ops) {
    for (std::uint32_t i = 0; i < op.result_count; ++i) ready[schedule.operands[op.first_operand + i]] = 0;
  }
  return end;
}

}  // namespace

double shared_interval(const Machine& machine) {
  return static_cast<double>(kWarpSize * machine.schedulers_per_sm) / machine.shared_lanes_per_sm;
}

double unit_interval(const Machine& machine, Unit unit) {
  const auto lanes = [&](double per_sm) { return kWarpSize * machine.schedulers_per_sm / per_sm; };
  switch (unit) {
    case Unit::fp32:
      return lanes(machine.fp32_lanes_per_sm);
    case Unit::half:
      return lanes(machine.half2_lanes_per_sm);
    case Unit::integer:
      return lanes(machine.int_lanes_per_sm);
    case Unit::multiply:
      return lanes(machine.multiply_lanes_per_sm);
    case Unit::fp64:
      return lanes(machine.fp64_lanes_per_sm);
    case Unit::special:
      return lanes(machine.special_lanes_per_sm);
    case Unit::memory:
    case Unit::constant:
      return lanes(machine.memory_lanes_per_sm);
    case Unit::tensor:  // per FMA
      return machine.schedulers_per_sm / (machine.tensor_fmas_per_clock * machine.mma_sync_share);
    case Unit::control:
      return 1;
  }
  ROOFWALK_CHECK(false);
}

std::vector<std::uint32_t> block_latencies(const Machine& machine, const Program& program,
                                           const ProgramSchedule& schedule) {
  std::vector<std::uint32_t> out, ready(schedule.slots);
  for (const auto& schedules : schedule.blocks) out.push_back(latency_of(machine, program, schedules.back(), ready));
  return out;
}

std::vector<std::uint32_t> rest_latencies(const Machine& machine, const Program& program,
                                          const ProgramSchedule& schedule) {
  const std::size_t count = program.function->instructions.size();
  std::vector<std::uint32_t> out(count), issued(count), ready(schedule.slots);
  for (std::size_t b = 0; b < schedule.blocks.size(); ++b) {
    const BasicBlock& block = program.blocks[b];
    std::fill_n(issued.begin() + block.first, block.count, kUnissued);
    const std::uint32_t end = latency_of(machine, program, schedule.blocks[b].back(), ready, &issued);
    std::uint32_t last = 0;
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      if (issued[pc] != kUnissued) last = issued[pc];
      out[pc] = end - last;
    }
  }
  return out;
}

std::vector<std::uint32_t> least_issue_slots(const ProgramSchedule& schedule) {
  std::vector<std::uint32_t> least(schedule.blocks.size(), ~0u), slots;
  for (std::size_t first = 0; first < least.size(); ++first) {
    for (const Schedule& one : schedule.blocks[first]) {
      slots.assign(one.members, 0);
      for (const TimedOp& op : one.ops) slots[op.part % one.members] += op.issues;
      for (std::size_t m = 0; m < slots.size() && first + m < least.size(); ++m)
        least[first + m] = std::min(least[first + m], slots[m] / one.copies);
    }
  }
  return least;
}

std::vector<UnitTimes> least_unit_times(const Machine& machine, const ProgramSchedule& schedule) {
  std::vector<std::array<double, kUnitCount>> parts;
  std::vector<UnitTimes> least(schedule.blocks.size());
  for (UnitTimes& times : least) times.of.fill(~0u);
  for (std::size_t first = 0; first < least.size(); ++first) {
    for (const Schedule& one : schedule.blocks[first]) {
      parts.assign(one.members, {});
      for (const TimedOp& op : one.ops) {
        std::array<double, kUnitCount>& cycles = parts[op.part % one.members];
        cycles[UnitTimes::kIssue] += op.issues;
        if (op.unit != Unit::control) cycles[static_cast<std::size_t>(op.unit)] += unit_cycles(machine, op);
      }
      for (std::size_t m = 0; m < parts.size() && first + m < least.size(); ++m) {
        for (std::size_t u = 0; u < kUnitCount; ++u) {
          const double times = std::min(UnitTimes::kPerCycle * parts[m][u] / one.copies, 1e9);
          least[first + m].of[u] = std::min(least[first + m].of[u], static_cast<std::uint32_t>(std::lround(times)));
        }
      }
    }
  }
  for (UnitTimes& times : least) std::fill(times.of.begin() + kUnitCount, times.of.end(), 0u);
  return least;
}

double swap_cycles(const Machine& machine, bool shared) {
  return shared ? machine.shared_swap_cycles : machine.l2_latency_cycles + 2 * machine.alu_latency_cycles;
}

void set_latencies(const Machine& machine, const ProgramSchedule& schedule, Program& program) {
  program.timed_operations.clear();
  for (const auto& schedules : schedule.blocks) program.timed_operations.push_back(operations_of(schedules.back()));
  const std::vector<std::uint32_t> latencies = block_latencies(machine, program, schedule);
  const std::vector<std::uint32_t> slots = least_issue_slots(schedule);
  program.unit_times = least_unit_times(machine, schedule);
  program.rests = rest_latencies(machine, program, schedule);
  const auto tell = [&](Op& entry, std::size_t block) {
    entry.offset = latencies[block];
    entry.meet = slots[block];
  };
  for (std::size_t b = 0; b < latencies.size(); ++b) {
    tell(program.ops[program.blocks[b].first_op], b);
    if (!program.lockstep.ops.empty()) tell(program.lockstep.ops[program.lockstep.first_op[b]], b);
  }
}

}  // namespace roofwalk::vgpu
