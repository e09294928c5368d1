#include "common/vgpu/timing/lower_bounds.h"

#include <algorithm>
#include <vector>

namespace roofwalk::vgpu {
namespace {

EntryWork work_of(const Schedule& schedule) {
  EntryWork work;
  for (const TimedOp& op : schedule.ops) {
    work.issues += op.issues;
    work.units[static_cast<std::size_t>(op.unit)] += op.unit == Unit::tensor ? op.tensor_fmas : op.issues;
  }
  work.issues /= schedule.copies;
  for (double& unit : work.units) unit /= schedule.copies;
  return work;
}

}  // namespace

double arithmetic_cycles(const Machine& machine, const double (&units)[kUnitCount]) {
  const auto warps = [&](Unit unit, int lanes) { return units[static_cast<std::size_t>(unit)] * kWarpSize / lanes; };
  return std::max(
      {warps(Unit::fp32, machine.fp32_lanes_per_sm), warps(Unit::half, machine.half2_lanes_per_sm),
       warps(Unit::integer, machine.int_lanes_per_sm), warps(Unit::multiply, machine.multiply_lanes_per_sm),
       warps(Unit::fp64, machine.fp64_lanes_per_sm), warps(Unit::special, machine.special_lanes_per_sm),
       units[static_cast<std::size_t>(Unit::tensor)] / (machine.tensor_fmas_per_clock * machine.mma_sync_share)});
}

std::vector<EntryWork> entry_works(const ProgramSchedule& schedule) {
  // The schedule with the most copies has the least work per execution of a basic block.
  std::vector<EntryWork> works(schedule.blocks.size());
  for (std::size_t b = 0; b < works.size(); b += schedule.blocks[b].front().members)
    works[b] = work_of(schedule.blocks[b].front());
  return works;
}

TimeParts least_time(const Machine& machine, const ProgramSchedule& schedule, const LaunchTotals& totals) {
  const std::vector<EntryWork> works = entry_works(schedule);
  const double ns_per_cycle = 1e9 / machine.clock_hz;
  TimeParts parts;
  parts.dram_ns =
      static_cast<double>(totals.dram_bytes) / (machine.dram_bytes_per_s * machine.dram_sustained_share) * 1e9;
  parts.l2_ns = static_cast<double>(totals.l2_sectors) * kSectorBytes / machine.l2_bytes_per_s() * 1e9;
  double updates = 0;
  for (const SmTotals& sm : totals.sms) {
    updates += static_cast<double>(sm.updates);
    double issued = 0;
    double units[kUnitCount] = {};
    for (std::size_t b = 0; b < works.size(); ++b) {
      const auto executions = static_cast<double>(sm.block_executions[b]);
      issued += executions * works[b].issues;
      for (std::size_t u = 0; u < kUnitCount; ++u) units[u] += executions * works[b].units[u];
    }
    const double l1 = std::max(static_cast<double>(sm.l1_lines) / machine.l1_lines_per_clock,
                               static_cast<double>(sm.l1_wavefronts) * kLineBytes / machine.l1_bytes_per_clock);
    const double shared = static_cast<double>(sm.shared_wavefronts) * kLineBytes / machine.shared_bytes_per_clock;
    parts.issue_ns = std::max(parts.issue_ns, issued / machine.schedulers_per_sm * ns_per_cycle);
    parts.flops_ns = std::max(parts.flops_ns, arithmetic_cycles(machine, units) * ns_per_cycle);
    parts.l1_ns = std::max(parts.l1_ns, l1 * ns_per_cycle);
    parts.shared_ns = std::max(parts.shared_ns, shared * ns_per_cycle);
    if (sm.constant_passes != 0) {
      const double constants = static_cast<double>(sm.constant_passes) / machine.constant_words_per_clock;
      parts.constant_ns = std::max(parts.constant_ns, constants * ns_per_cycle);
    }
  }
  if (updates != 0) parts.l2_ns = std::max(parts.l2_ns, updates / machine.atomic_updates_per_clock * ns_per_cycle);
  parts.contention_ns = totals.most_contended_cycles / machine.clock_hz * 1e9;
  // FLOPs give a bound that does not depend on the schedule: a lane does at most two per clock, four on 16-bit pairs.
  const auto at_peak = [&](std::uint64_t flops, double a_clock) {
    return a_clock > 0 ? static_cast<double>(flops) / (machine.sms * a_clock) * ns_per_cycle : 0.0;
  };
  parts.flops_ns = std::max({parts.flops_ns, at_peak(totals.flops_f32, 2.0 * machine.fp32_lanes_per_sm),
                             at_peak(totals.flops_f16, 4.0 * machine.half2_lanes_per_sm),
                             at_peak(totals.flops_f64, 2.0 * machine.fp64_lanes_per_sm),
                             at_peak(totals.flops_tensor, 2.0 * machine.tensor_fmas_per_clock)});
  return parts;
}

double requests_ns(const Machine& machine, const LaunchTotals& totals) {
  double cycles = 0;
  for (const SmTotals& sm : totals.sms) {
    const auto [read, from_dram, written] = sm.requests;
    const double at_port =
        std::max(static_cast<double>(read) * kSectorBytes / machine.l2_port_bytes_per_clock,
                 static_cast<double>(written) * kSectorBytes / machine.l2_port_write_bytes_per_clock);
    const double held = static_cast<double>(from_dram) * machine.dram_latency_cycles +
                        static_cast<double>(read - from_dram) * machine.l2_latency_cycles;
    // The launch may end before its last loads return, if nothing reads their values.
    const double in_flight = held / machine.sectors_in_flight_per_sm - machine.dram_latency_cycles;
    cycles = std::max({cycles, at_port, in_flight});
  }
  return cycles / machine.clock_hz * 1e9;
}

double busiest_ns(const TimeParts& parts) {
  return std::max({parts.dram_ns, parts.l2_ns, parts.l1_ns, parts.shared_ns, parts.constant_ns, parts.issue_ns,
                   parts.flops_ns, parts.contention_ns});
}

}  // namespace roofwalk::vgpu
