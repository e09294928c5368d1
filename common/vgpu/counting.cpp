#include "common/vgpu/counting.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/record/run_record.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Space;

void add_flops(const Instruction& in, std::uint64_t threads, Counters& out) {
  const auto& info = ptx::info(in.opcode);
  if (info.form == Form::matrix_multiply) {
    const std::uint64_t of_warp = std::uint64_t{2} * in.shape.m * in.shape.n * in.shape.k;
    // Either all threads of a warp execute it, or none.
    out.add(ptx::is_float(in.type) ? Counter::flops_tensor : Counter::tensor_integer_operations,
            threads * of_warp / kWarpSize);
    return;
  }
  const std::uint64_t elements = ptx::is_pair(in.type) ? 2 : 1;
  if (!ptx::is_float(in.type)) {
    const std::uint64_t operations = threads * elements * static_cast<std::uint64_t>(info.flops);
    if (info.form == Form::alu) out.add(Counter::integer_operations, operations);
    return;
  }
  // Float atomics are always additions. They have a counter of their own, because the lanes of an SM do not execute
  // them and hardware does not count them as FLOPs.
  if (info.form == Form::atomic || info.form == Form::reduction) out.add(Counter::atomic_flops, threads * elements);
  if (info.flops == 0) return;
  const std::uint64_t flops = threads * elements * static_cast<std::uint64_t>(info.flops);
  const bool half = (ptx::bit(in.type) & ptx::kHalf) != 0;
  out.add(in.type == ptx::Type::f64 ? Counter::flops_f64 : half ? Counter::flops_f16 : Counter::flops_f32, flops);
  if (ptx::unit_of(info.units, in.type) == ptx::Unit::special) out.add(Counter::special_functions, threads);
}

void add_traffic(const InstructionCounters& site, const InstructionTraffic& traffic, Counters& out) {
  out.add(Counter::l2_read_sectors, site.l2_read_sectors);
  out.add(Counter::l2_write_sectors, site.l2_write_sectors);
  out.add(Counter::l2_read_hit_sectors, site.l2_hit_sectors);
  out.add(Counter::dram_read_bytes, traffic.dram_read_sectors * kSectorBytes);
  out.add(Counter::dram_write_bytes, traffic.dram_write_sectors * kSectorBytes);
}

// Adds how many of the sectors that a site moved it needed.
void add_needs(const InstructionCounters& site, Counters& out) {
  out.add(Counter::l1_ideal_sectors, site.ideal_sectors);
  out.add(Counter::l1_uncoalesced_sectors, site.uncoalesced_sectors);
  out.add(Counter::l1_uncoalesced_ideal_sectors, site.uncoalesced_ideal_sectors);
}

// Returns how many of the threads that executed an atomic had their word in global memory. Shared memory counts the
// bytes of its own accesses.
std::uint64_t global_operations(const Instruction& in, const InstructionCounters& site, std::uint64_t threads) {
  const std::uint64_t in_shared = site.bytes / static_cast<std::uint64_t>(std::max(ptx::size_bytes(in.type), 1));
  return threads - std::min(threads, in_shared);
}

void add_memory(const Instruction& in, const InstructionCounters& site, std::uint64_t threads, Counters& out) {
  if (site.requests == 0 && site.bytes == 0) return;
  const Form form = ptx::info(in.opcode).form;
  const bool atomic = form == Form::atomic || form == Form::reduction;
  const bool waits = in.mbarrier == ptx::MbarrierMode::test_wait || in.mbarrier == ptx::MbarrierMode::try_wait;
  const bool load = form == Form::load || form == Form::matrix_load || form == Form::fragment_load || waits;
  const bool store = form == Form::store || form == Form::fragment_store || form == Form::mbarrier;
  if (!atomic && !load && !store && form != Form::async_copy) return;
  if (loads_constant(in)) {
    out.add(Counter::constant_requests, site.requests);
    out.add(Counter::constant_passes, site.wavefronts);
    out.add(Counter::constant_misses, site.conflicts);
    out.add(Counter::constant_bytes, site.bytes);
    return;
  }
  out.add(Counter::shared_bytes, site.bytes);
  out.add(Counter::shared_wavefronts, site.wavefronts);
  out.add(Counter::shared_bank_conflicts, site.conflicts);
  out.add(Counter::l1_lines, site.lines);
  if (form == Form::async_copy) {
    const std::uint64_t loads = site.served_by_l1 + site.served_by_l2 + site.served_by_dram;
    out.add(Counter::global_load_requests, loads);
    out.add(Counter::shared_store_requests, site.requests - loads);
    out.add(Counter::l1_read_sectors, site.sectors);
    out.add(Counter::l1_read_hit_sectors, site.hit_sectors);
    add_needs(site, out);
    return;
  }
  // A generic access may go to shared memory. Accesses to shared memory have wavefronts but no sectors.
  const bool near = in.space == Space::shared || (site.wavefronts != 0 && site.sectors == 0);
  if (near) {
    out.add(load ? Counter::shared_load_requests : Counter::shared_store_requests, site.requests);
    return;
  }
  const std::uint64_t requests = site.requests - site.shared_requests;
  if (site.shared_requests != 0)
    out.add(load ? Counter::shared_load_requests : Counter::shared_store_requests, site.shared_requests);
  if (in.space == Space::local) {
    out.add(Counter::local_sectors, site.sectors);
  } else {
    add_needs(site, out);
  }
  if (load) {
    out.add(Counter::l1_read_sectors, site.sectors);
    out.add(Counter::l1_read_hit_sectors, site.hit_sectors);
    if (in.space != Space::local) out.add(Counter::global_load_requests, requests);
  } else {
    out.add(Counter::l1_write_sectors, site.sectors);
    if (in.space == Space::local)
      out.add(Counter::local_write_sectors, site.sectors);
    else
      out.add(atomic ? Counter::atomic_requests : Counter::global_store_requests, requests);
    if (atomic) out.add(Counter::atomic_operations, global_operations(in, site, threads));
  }
}

void add_load(const Instruction& in, const InstructionCounters& site, LineCounters& line) {
  if (ptx::info(in.opcode).form != Form::load || in.space == Space::local || site.sectors == 0) return;
  line.loads.push_back({static_cast<double>(site.sectors), static_cast<double>(site.requests - site.shared_requests)});
}

// Sets held_up of each line with a barrier: at which lines, and for what, the last warp to arrive had waited while the
// others stood at the barrier.
void add_held_up(const CountingInput& input, std::map<int, LineCounters>& lines) {
  const auto& code = input.function.instructions;
  std::map<int, std::map<int, WarpCycles>> by_line;
  for (const HeldUp& held : input.reading.held_up) {
    auto& at_barrier = by_line[input.module.line_in(code[held.barrier], input.source_name)];
    for (const auto& [pc, held_up] : held.by_instruction) {
      if (held_up.total() <= 0) continue;
      WarpCycles waits = held_up;
      if (input.totals.sites[pc].requests != 0) {
        const Wait memory = loads_constant(code[pc])              ? Wait::constant
                            : input.totals.sites[pc].sectors == 0 ? Wait::shared
                                                                  : Wait::l1;
        waits[memory] += std::exchange(waits[Wait::pipe], 0);
      }
      at_barrier[input.module.line_in(code[pc], input.source_name)].add(waits);
    }
  }
  for (const auto& [line, blamed] : by_line) {
    const auto found = lines.find(line);
    if (found == lines.end()) continue;
    std::vector<HeldUpBy>& parts = found->second.held_up;
    for (const auto& [by, waits] : blamed) {
      for (std::size_t w = 0; w < kWaitCount; ++w) {
        if (waits.cycles[w] > 0) parts.push_back({by, static_cast<Wait>(w), waits.cycles[w]});
      }
    }
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
  }
}

}  // namespace

void set_to_zero(Counters& counters, Counted counted) {
  // The counters after `barriers` are those of memory.
  constexpr auto kOfInstructions = static_cast<std::size_t>(Counter::barriers) + 1;
  const std::size_t count = counted == Counted::everything ? kCounterCount : kOfInstructions;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_of_lines(static_cast<Counter>(i))) counters.set(static_cast<Counter>(i), 0);
  }
}

void count_kernel(const CountingInput& input, KernelRecord& out) {
  set_to_zero(out.counters, input.counted);
  const auto& code = input.function.instructions;
  out.waits = input.reading.waits;
  std::map<int, LineCounters> lines;
  std::map<int, std::set<int>> callers;
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const BasicBlock& block = input.blocks[b];
    std::uint64_t executions = 0;
    for (const SmTotals& sm : input.totals.sms) executions += sm.block_executions[b];
    for (std::uint32_t pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& in = code[pc];
      const InstructionCounters& site = input.totals.sites[pc];
      const std::uint64_t threads = input.block_threads[b] - site.predicated_off;
      // Predicated machine code uses issue slots even in basic blocks that no warp enters.
      const bool takes_turns = pc < input.reading.by_instruction.size() && input.reading.by_instruction[pc].total() > 0;
      if (executions == 0 && !takes_turns) continue;
      const int line = input.module.line_in(in, input.source_name);
      auto [it, is_new] = lines.try_emplace(line);
      if (is_new) {
        it->second.line = line;
        set_to_zero(it->second.counters, input.counted);
      }
      if (takes_turns) it->second.waits.add(input.reading.by_instruction[pc]);
      add_load(in, site, it->second);
      if (const int caller = input.module.caller_in(in, input.source_name); caller > 0) callers[line].insert(caller);
      for (Counters* counters : {&out.counters, &it->second.counters}) {
        counters->add(Counter::warp_instructions, executions);
        counters->add(Counter::thread_instructions, threads);
        if (input.has_use[pc]) add_flops(in, threads, *counters);
        if (input.counted == Counted::everything) {
          add_memory(in, site, threads, *counters);
          add_traffic(site, input.traffic[pc], *counters);
        }
        const Form form = ptx::info(in.opcode).form;
        if (chooses_way(in)) {
          counters->add(Counter::branches, executions);
          counters->add(Counter::divergent_branches, site.divergent);
        }
        if (form == Form::barrier) counters->add(Counter::barriers, executions);
      }
    }
  }
  add_held_up(input, lines);
  for (const auto& [line, of_line] : callers) lines.at(line).callers.assign(of_line.begin(), of_line.end());
  for (auto& [line, counters] : lines) out.lines.push_back(std::move(counters));
}

void count_transfer(const InstructionCounters& site, const InstructionTraffic& traffic, Counted counted,
                    Counters& out) {
  set_to_zero(out, counted);
  if (counted == Counted::everything) add_traffic(site, traffic, out);
}

}  // namespace roofwalk::vgpu
