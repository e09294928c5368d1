#include "common/vgpu/counting.h"

#include <map>

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Space;

void add_flops(const Instruction& in, std::uint64_t threads, Counters& out) {
  const auto& info = ptx::info(in.opcode);
  if (info.flops == 0 || !ptx::is_float(in.type)) return;
  const std::uint64_t flops = threads * static_cast<std::uint64_t>(info.flops);
  out.add(in.type == ptx::Type::f64 ? Counter::flops_f64 : Counter::flops_f32, flops);
  if (info.pipe == ptx::Pipe::special) out.add(Counter::special_functions, threads);
}

void add_traffic(const Site& site, const SiteTraffic& traffic, Counters& out) {
  out.add(Counter::l2_read_sectors, site.l2_read_sectors);
  out.add(Counter::l2_write_sectors, site.l2_write_sectors);
  out.add(Counter::l2_read_hit_sectors, site.l2_hit_sectors);
  out.add(Counter::dram_read_bytes, traffic.dram_read_sectors * kSectorBytes);
  out.add(Counter::dram_write_bytes, traffic.dram_write_sectors * kSectorBytes);
}

void add_memory(const Instruction& in, const Site& site, Counters& out) {
  const Form form = ptx::info(in.opcode).form;
  const bool atomic = form == Form::atomic || form == Form::reduction;
  if (!atomic && form != Form::load && form != Form::store) return;
  out.add(Counter::shared_bytes, site.bytes);
  out.add(Counter::shared_wavefronts, site.wavefronts);
  out.add(Counter::shared_bank_conflicts, site.conflicts);
  out.add(Counter::l1_lines, site.lines);
  // A generic access may have gone to either memory: sectors tell which.
  const bool near = site.wavefronts != 0 && site.sectors == 0;
  if (near) {
    out.add(form == Form::load ? Counter::shared_load_requests : Counter::shared_store_requests, site.requests);
    return;
  }
  if (form == Form::load) {
    out.add(Counter::l1_read_sectors, site.sectors);
    out.add(Counter::l1_read_hit_sectors, site.hit_sectors);
    if (in.space != Space::local) out.add(Counter::global_load_requests, site.requests);
  } else {
    out.add(Counter::l1_write_sectors, site.sectors);
    if (in.space != Space::local)
      out.add(atomic ? Counter::atomic_requests : Counter::global_store_requests, site.requests);
  }
}

}  // namespace

void set_all_to_zero(Counters& counters) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (can_count(counter)) counters.set(counter, 0);
  }
}

// No opcode of these kinds is executed yet; a 0 would claim that it was counted.
bool can_count(Counter counter) { return counter != Counter::flops_tensor && counter != Counter::flops_f16; }

void count_kernel(const CountingInput& input, KernelRecord& out) {
  set_all_to_zero(out.counters);
  const auto& code = input.program.function->instructions;
  out.waits = input.reading.waits;
  std::map<int, LineCounters> lines;
  for (std::size_t b = 0; b < input.program.blocks.size(); ++b) {
    const BasicBlock& block = input.program.blocks[b];
    std::uint64_t executions = 0;
    for (const SmTotals& sm : input.totals.sms) executions += sm.block_executions[b];
    if (executions == 0) continue;
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& in = code[pc];
      const Site& site = input.totals.sites[pc];
      const std::uint64_t threads = input.block_threads[b] - site.predicated_off;
      const int line = input.module.line_in(in, input.source_name);
      auto [it, is_new] = lines.try_emplace(line);
      if (is_new) {
        it->second.line = line;
        set_all_to_zero(it->second.counters);
      }
      if (pc < input.reading.by_instruction.size()) it->second.waits.add(input.reading.by_instruction[pc]);
      for (Counters* counters : {&out.counters, &it->second.counters}) {
        counters->add(Counter::warp_instructions, executions);
        counters->add(Counter::thread_instructions, threads);
        add_flops(in, threads, *counters);
        add_memory(in, site, *counters);
        add_traffic(site, input.traffic[pc], *counters);
        if (ptx::info(in.opcode).form == Form::branch) {
          counters->add(Counter::branches, executions);
          counters->add(Counter::divergent_branches, site.divergent);
        }
        if (ptx::info(in.opcode).form == Form::barrier) counters->add(Counter::barriers, executions);
      }
    }
  }
  for (auto& [line, counters] : lines) out.lines.push_back(counters);
}

void count_transfer(const Site& site, const SiteTraffic& traffic, Counters& out) {
  set_all_to_zero(out);
  add_traffic(site, traffic, out);
}

}  // namespace roofwalk::vgpu
