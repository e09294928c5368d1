#include "common/vgpu/timing.h"

#include <algorithm>
#include <cmath>

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Pipe;
using ptx::Space;

template <class Visit>
void for_each_register(const Operand& operand, Visit&& visit) {
  if (operand.index >= 0 && (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::address))
    visit(operand.index);
  for (const Operand& element : operand.elements) for_each_register(element, visit);
}

// How many of the operands are results; an address is always read.
std::size_t result_count(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::compare:
    case Form::shuffle:
      return 2;
    case Form::store:
    case Form::async_copy:
    case Form::reduction:
    case Form::branch:
    case Form::barrier:
    case Form::leave:
    case Form::trap:
    case Form::fence:
    case Form::prefetch:
    case Form::call:
      return 0;
    default:
      return 1;
  }
}

bool is_load(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  return (form == Form::load && in.space != Space::param && in.space != Space::constant) || form == Form::matrix_load ||
         in.async == ptx::AsyncMode::copy || form == Form::atomic || form == Form::shuffle;
}

BlockCost cost_of(const Machine& machine, const Program& program, const BasicBlock& block) {
  const auto& code = program.function->instructions;
  BlockCost cost;
  std::vector<int> round_of(program.function->registers.size(), 0);  // rounds before the value is there
  std::vector<double> chain_of(round_of.size(), 0);                  // arithmetic before it
  int after_store = 0, stores = 0, after_barrier = 0;
  for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
    const Instruction& in = code[pc];
    const auto& info = ptx::info(in.opcode);
    if (info.pipe == Pipe::special)
      ++cost.special;
    else if (in.type == ptx::Type::f64 && info.form == Form::alu)
      ++cost.fp64;
    else if (in.type == ptx::Type::f32 && info.flops > 0)
      ++cost.fp32;

    const std::size_t results = result_count(in);
    int round = 0;
    double chain = 0;
    const auto read = [&](int reg) {
      round = std::max(round, round_of[reg]);
      chain = std::max(chain, chain_of[reg]);
    };
    for (std::size_t i = results; i < in.operands.size(); ++i) for_each_register(in.operands[i], read);
    if (in.guard >= 0) read(in.guard);

    if (info.form == Form::barrier) {
      after_barrier = stores;
      cost.chain_cycles += machine.barrier_latency_cycles;
      continue;
    }
    if (info.form == Form::store || info.form == Form::reduction) {
      stores = std::max(stores, round);
      if (in.space == Space::global || in.space == Space::generic) after_store = std::max(after_store, round);
      continue;
    }
    if (is_load(in)) {
      const bool global = in.space == Space::global || in.space == Space::generic;
      round = std::max(round, after_barrier);
      if (global && !in.non_coherent) round = std::max(round, after_store);
      if (static_cast<std::size_t>(round) == cost.load_rounds.size()) cost.load_rounds.emplace_back();
      cost.load_rounds[std::min<std::size_t>(round, cost.load_rounds.size() - 1)].push_back(pc);
      ++round;
    } else {
      chain += info.pipe == Pipe::control ? 0 : machine.alu_latency_cycles;
    }
    for (std::size_t i = 0; i < results && i < in.operands.size(); ++i) {
      for_each_register(in.operands[i], [&](int reg) {
        round_of[reg] = round;
        chain_of[reg] = chain;
      });
    }
    cost.chain_cycles = std::max(cost.chain_cycles, chain);
  }
  return cost;
}

// Mean latency of a load over its requests, by the farthest level that each had to ask.
double mean_latency(const Machine& machine, const Instruction& in, const Site& site) {
  if (in.space == Space::shared || ptx::info(in.opcode).form == Form::shuffle) return machine.shared_latency_cycles;
  const auto requests = static_cast<double>(site.served_by_l1 + site.served_by_l2 + site.served_by_dram);
  if (requests == 0) return machine.l1_latency_cycles;
  return (static_cast<double>(site.served_by_l1) * machine.l1_latency_cycles +
          static_cast<double>(site.served_by_l2) * machine.l2_latency_cycles +
          static_cast<double>(site.served_by_dram) * machine.dram_latency_cycles) /
         requests;
}

}  // namespace

std::vector<BlockCost> block_costs(const Machine& machine, const Program& program) {
  std::vector<BlockCost> costs;
  for (const BasicBlock& block : program.blocks) costs.push_back(cost_of(machine, program, block));
  return costs;
}

TimeParts model_time(const Machine& machine, const Program& program, const LaunchTotals& totals) {
  const std::vector<BlockCost> costs = block_costs(machine, program);
  std::vector<double> exposed_cycles;
  for (const BlockCost& cost : costs) {
    double cycles = cost.chain_cycles;
    for (const auto& round : cost.load_rounds) {
      double longest = 0;
      for (const std::uint32_t pc : round) {
        longest = std::max(longest, mean_latency(machine, program.function->instructions[pc], totals.sites[pc]));
      }
      cycles += longest;
    }
    exposed_cycles.push_back(cycles);
  }

  const double ns_per_cycle = 1e9 / machine.clock_hz;
  TimeParts parts;
  parts.launch_ns = machine.launch_ns;
  parts.dram_ns = static_cast<double>(totals.dram_bytes) / machine.dram_bytes_per_s * 1e9;
  parts.l2_ns = static_cast<double>(totals.l2_sectors) * kSectorBytes / machine.l2_bytes_per_s() * 1e9;
  for (const SmTotals& sm : totals.sms) {
    double issued = 0, fp32 = 0, fp64 = 0, special = 0, exposed = 0;
    for (std::size_t b = 0; b < costs.size(); ++b) {
      const auto executions = static_cast<double>(sm.block_executions[b]);
      issued += executions * program.blocks[b].count;
      fp32 += executions * costs[b].fp32;
      fp64 += executions * costs[b].fp64;
      special += executions * costs[b].special;
      exposed += executions * exposed_cycles[b];
    }
    const auto cycles_at = [&](double warp_instructions, int lanes) { return warp_instructions * kWarpSize / lanes; };
    const double flops =
        std::max({cycles_at(fp32, machine.fp32_lanes_per_sm), cycles_at(fp64, machine.fp64_lanes_per_sm),
                  cycles_at(special, machine.special_lanes_per_sm)});
    const double l1 = std::max(static_cast<double>(sm.l1_lines) / machine.l1_lines_per_clock,
                               static_cast<double>(sm.l1_sectors) * kSectorBytes / machine.l1_bytes_per_clock);
    const double shared = static_cast<double>(sm.shared_wavefronts) * kLineBytes / machine.shared_bytes_per_clock;
    const double waves = std::ceil(static_cast<double>(sm.blocks_run) / totals.blocks_per_sm);
    const double longest =
        sm.blocks_run == 0 ? 0 : static_cast<double>(sm.longest_warps) / static_cast<double>(sm.blocks_run);
    const double latency = issued == 0 ? 0 : waves * exposed / issued * longest;
    parts.issue_ns = std::max(parts.issue_ns, issued / machine.schedulers_per_sm * ns_per_cycle);
    parts.flops_ns = std::max(parts.flops_ns, flops * ns_per_cycle);
    parts.l1_ns = std::max(parts.l1_ns, l1 * ns_per_cycle);
    parts.shared_ns = std::max(parts.shared_ns, shared * ns_per_cycle);
    parts.latency_ns = std::max(parts.latency_ns, latency * ns_per_cycle);
  }
  return parts;
}

double total_ns(const TimeParts& parts) {
  const double busiest =
      std::max({parts.dram_ns, parts.l2_ns, parts.l1_ns, parts.shared_ns, parts.issue_ns, parts.flops_ns});
  return parts.launch_ns + std::sqrt(busiest * busiest + parts.latency_ns * parts.latency_ns);
}

}  // namespace roofwalk::vgpu
