#include "common/vgpu/gpu.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "common/vgpu/counting.h"
#include "common/vgpu/exec/print.h"
#include "common/vgpu/gpu_step.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/program/element_sizes.h"
#include "common/vgpu/timing/lower_bounds.h"

namespace roofwalk::vgpu {
namespace {

// Whether a kernel can obtain a generic pointer to constant memory in any way except by guessing an address.
bool points_to_constants(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& in : function.instructions) {
      if (ptx::info(in.opcode).form == ptx::Form::cvta && in.space == ptx::Space::constant && !in.to) return true;
    }
  }
  const auto is_constant = [&](const std::string& name) {
    return std::any_of(module.variables.begin(), module.variables.end(), [&](const ptx::Variable& variable) {
      return variable.space == ptx::Space::constant && variable.name == name;
    });
  };
  for (const ptx::Variable& variable : module.variables) {
    if (std::any_of(variable.fixups.begin(), variable.fixups.end(),
                    [&](const auto& fixup) { return is_constant(fixup.symbol); }))
      return true;
  }
  return false;
}

// Sets how long the SMs took for a kernel or a transfer, and how many warps they held. If a part of the machine is busy
// for longer than the replayed warps need, the times of the warps stretch with it.
void count_residency(const Machine& machine, const ModelledTime& reading, KernelRecord& out) {
  const double cycles_per_ns = machine.clock_hz * 1e-9;
  const double busy_cycles = (out.elapsed_ns - out.parts.launch_ns) * cycles_per_ns;
  const double stretch = reading.cycles > 0 ? busy_cycles / reading.cycles : 0;
  const double active = reading.active_sm_cycles * stretch;
  const auto set = [&](Counter counter, double value) {
    out.counters.set(counter, static_cast<std::uint64_t>(std::llround(value)));
  };
  set(Counter::sm_cycles, machine.sms * out.elapsed_ns * cycles_per_ns);
  set(Counter::sm_active_cycles, active);
  set(Counter::scheduler_cycles, machine.schedulers_per_sm * active);
  set(Counter::resident_warp_cycles, reading.resident_warp_cycles * stretch);
}

void add_counters(const Counters& from, Counters& to) {
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (const auto value = from[counter]) to.add(counter, *value);
  }
}

}  // namespace

Gpu::Gpu(Machine machine)
    : machine_(std::move(machine)),
      memory_(static_cast<std::uint64_t>(machine_.memory_bytes)),
      l2_(machine_),
      printer_(std::make_unique<Printer>()) {}

Gpu::~Gpu() = default;

Status Gpu::load(ptx::Module module, std::string source_name, std::string source_path) {
  memory_.release_all(Memory::Region::globals);
  memory_.release_all(Memory::Region::constants);
  for (const auto& loaded : modules_) {
    for (const int id : loaded->managed) memory_.release(id);
  }
  modules_.clear();
  loaded_ = nullptr;
  module_ = nullptr;
  const auto number = add_module(std::move(module), std::move(source_name), std::move(source_path));
  if (!number) return number.error();
  return kOk;
}

Result<int> Gpu::add_module(ptx::Module module, std::string source_name, std::string source_path) {
  const int number = static_cast<int>(modules_.size());
  modules_.push_back(std::make_unique<Loaded>());
  modules_.back()->module = std::move(module);
  use_module(number, std::move(source_name), std::move(source_path));
  ROOFWALK_TRY_STATUS(place_variables(*loaded_));
  return number;
}

void Gpu::use_module(int number, std::string source_name, std::string source_path) {
  steps_.clear();
  loaded_ = modules_[static_cast<std::size_t>(number)].get();
  module_ = &loaded_->module;
  source_name_ = std::move(source_name);
  source_path_ = std::move(source_path);
}

std::optional<std::uint64_t> Gpu::variable_address(const std::string& name) const {
  if (module_ == nullptr || module_->find_variable(name) == nullptr) return std::nullopt;
  const auto at = loaded_->addresses.find(name);
  return at == loaded_->addresses.end() ? std::nullopt : std::optional(at->second);
}

Status Gpu::place_variables(Loaded& loaded) {
  std::uint64_t bank = 0;  // bytes of the constant bank used so far
  const std::vector<std::uint32_t> sizes = element_sizes(loaded.module);
  for (const ptx::Variable& variable : loaded.module.variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    if (variable.is_extern) {
      return Error{.message = fmt::format("`{}` is declared extern but defined nowhere", variable.name),
                   .file = source_path_};
    }
    const std::uint64_t size_bytes = std::max<std::uint64_t>(variable.size_bytes, 1);
    const std::uint32_t element_bytes = sizes[static_cast<std::size_t>(&variable - loaded.module.variables.data())];
    const auto align_bytes = static_cast<std::uint64_t>(variable.align_bytes);
    const bool is_constant = variable.space == ptx::Space::constant;
    if (is_constant) bank = (bank + align_bytes - 1) / align_bytes * align_bytes % Memory::kConstantBankBytes;
    // A managed variable lies where the host can have it at the same address.
    const auto region = variable.is_managed ? Memory::Region::buffers : Memory::Region::globals;
    auto id = is_constant ? memory_.allocate_constant(display_name(variable.name), size_bytes, element_bytes, bank)
                          : memory_.allocate(display_name(variable.name), size_bytes, element_bytes, region);
    if (is_constant) bank += size_bytes;
    if (!id) {
      Error error = id.error();
      error.file = source_path_;
      return error;
    }
    if (variable.is_managed) loaded.managed.push_back(*id);
    const Buffer& buffer = memory_.buffer(*id);
    loaded.addresses[variable.name] = buffer.address;
    std::copy_n(variable.initial.begin(), std::min<std::size_t>(variable.initial.size(), buffer.size_bytes),
                buffer.data);
  }
  loaded.points_to_constants = points_to_constants(loaded.module);
  for (const auto& [name, number] : function_numbers(loaded.module)) loaded.addresses[name] = number;
  for (const ptx::Variable& variable : loaded.module.variables) {
    for (const auto& fixup : variable.fixups) {
      const auto to = loaded.addresses.find(fixup.symbol);
      const auto at = loaded.addresses.find(variable.name);
      if (to == loaded.addresses.end() || at == loaded.addresses.end() || fixup.offset_bytes + 8 > variable.size_bytes)
        continue;
      const std::uint64_t value = to->second + static_cast<std::uint64_t>(fixup.addend);
      std::memcpy(memory_.find(at->second)->data + fixup.offset_bytes, &value, sizeof value);
    }
  }
  return kOk;
}

Status Gpu::make_heap(std::uint64_t size_bytes) {
  if (heap_) return kOk;
  ROOFWALK_TRY(const int id, memory_.allocate("heap", size_bytes, 1, Memory::Region::globals));
  heap_.emplace(memory_.buffer(id).address, size_bytes);
  return kOk;
}

void Gpu::begin_plan(const RunLimits& limits) {
  limits_ = limits;
  began_ = std::chrono::steady_clock::now();
  plan_operations_ = kept_bytes_ = 0;
  ordered_.clear();
  traffic_.clear();
  steps_.clear();
  ++plan_;
  fault_.reset();
  printer_->take();
  warnings_.clear();
  unset_stores_.clear();
  watched_line_ = 0;
  untraced_blocks_.clear();
  if (limits_.counts) {
    l2_.invalidate();
    l2_.use(memory_.frames());
  }
  memory_.watch(limits.sanitize);
}

// Recursive calls save registers in the frames that ptxas gives them. ptxas counts the frame of each function once, so
// a call's frame takes at most what the whole kernel takes, and that much is taken for each open call.
std::uint64_t Gpu::spilled_bytes(const Step& step) {
  std::uint64_t bytes = step.local_bytes_per_thread - std::min(step.local_bytes_per_thread, step.local_bytes);
  for (const SmTotals& sm : step.totals.sms)
    bytes = std::max(bytes, std::uint64_t{sm.deepest_calls} * step.local_bytes_per_thread);
  return bytes;
}

KernelRecord Gpu::finish(Step& step, Counters& total) {
  KernelRecord out;
  out.name = step.name;
  out.grid = step.grid;
  out.block = step.block;
  out.line = step.line;
  out.registers_per_thread = step.registers_per_thread;
  out.local_bytes_per_thread = step.local_bytes_per_thread;
  const Counted counted = limits_.counts ? Counted::everything : Counted::instructions;
  const std::span traffic(traffic_.data() + step.first_site, step.totals.sites.size());
  if (step.kernel != nullptr) {
    const KernelCode& code = step.kernel->code;
    out.shared_bytes = step.shared_bytes;
    out.shared_counts_from = step.kernel->shared_accesses.found_all ? CountsFrom::sass : CountsFrom::ptx;
    out.spilled_bytes_per_thread = spilled_bytes(step);
    out.resident_blocks_per_sm = step.occupancy.blocks_per_sm;
    out.occupancy = step.occupancy.warps_share;
    count_kernel({*code.function, code.blocks, code.has_use, step.totals, step.block_threads, traffic, step.reading,
                  *module_, source_name_, counted},
                 out);
  } else {
    count_transfer(step.totals.sites[0], traffic[0], counted, out.counters);
    if (step.line > 0) out.lines.push_back({step.line, out.counters});
  }
  if (!limits_.counts) {
    add_counters(out.counters, total);
    return out;
  }
  step.totals.dram_bytes = *out.counters[Counter::dram_read_bytes] + *out.counters[Counter::dram_write_bytes];
  step.totals.l2_sectors = *out.counters[Counter::l2_read_sectors] + *out.counters[Counter::l2_write_sectors];
  step.totals.flops_f32 = *out.counters[Counter::flops_f32];
  step.totals.flops_f16 = *out.counters[Counter::flops_f16];
  step.totals.flops_f64 = *out.counters[Counter::flops_f64];
  step.totals.flops_tensor = *out.counters[Counter::flops_tensor];
  static const ProgramSchedule kNone;
  out.parts = least_time(machine_, step.schedule != nullptr ? *step.schedule : kNone, step.totals);
  const double busiest = busiest_ns(out.parts);
  const double clock_ns = std::max(step.reading.cycles / machine_.clock_hz * 1e9, requests_ns(machine_, step.totals));
  out.parts.latency_ns = std::max(0.0, clock_ns - busiest);
  out.parts.launch_ns = machine_.launch_ns;
  out.elapsed_ns = out.parts.launch_ns + std::max(busiest, clock_ns);
  const bool has_times = limits_.traces.instructions != 0 && (step.kernel == nullptr || step.reading.cycles > 0);
  if (has_times) count_residency(machine_, step.reading, out);
  add_counters(out.counters, total);
  return out;
}

void Gpu::find_unset_results() {
  for (auto& [id, store] : unset_stores_) {
    if (!fault_ && memory_.is_result(id) && memory_.holds_unset(id)) fault_ = std::move(store.fault);
  }
}

RunRecord Gpu::end_plan() {
  find_unset_results();
  RunRecord record;
  record.device = machine_.name;
  record.time_is_modelled = limits_.counts;
  record.printed = printer_->take();
  record.warnings = std::move(warnings_);
  warnings_.clear();
  record.watched_line = watched_line_;
  const bool all_alike =
      std::all_of(untraced_blocks_.begin(), untraced_blocks_.end(), [](const auto& b) { return b.empty(); });
  if (!all_alike) record.untraced_blocks = std::move(untraced_blocks_);
  if (fault_) {
    record.fault = std::move(fault_);
    fault_.reset();
    steps_.clear();
    return record;
  }
  if (limits_.counts) l2_.write_back_all(traffic_);
  set_to_zero(record.counters, limits_.counts ? Counted::everything : Counted::instructions);
  for (const auto& step : steps_) {
    record.kernels.push_back(finish(*step, record.counters));
    record.elapsed_ns += record.kernels.back().elapsed_ns;
  }
  steps_.clear();
  return record;
}

}  // namespace roofwalk::vgpu
