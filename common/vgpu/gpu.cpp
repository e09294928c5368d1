#include "common/vgpu/gpu.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "common/base/int128.h"
#include "common/vgpu/counting.h"
#include "common/vgpu/exec/print.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/state/work.h"
#include "common/vgpu/timing/block_latency.h"
#include "common/vgpu/timing/clock.h"
#include "common/vgpu/timing/least_time.h"
#include "common/vgpu/timing/occupancy.h"

namespace roofwalk::vgpu {
namespace {

// PTX registers are kept as they are (ptxas would share them), for every resident warp.
constexpr std::uint64_t kMaxRegisterBytes = 1ull << 30;
constexpr std::uint64_t kMaxLocalBytes = 2ull << 30;  // of resident threads, on the host
constexpr std::uint64_t kMaxPlanOperations = 4'000'000;

// Whether a kernel can come by a generic pointer to constant memory without guessing its number.
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

using HostClock = std::chrono::steady_clock;

// Of the whole grid, at the least: its blocks are started, and each of their warps begins.
UInt128 least_work(const Program& program, std::uint64_t blocks, std::uint64_t warps, bool sanitized) {
  const std::uint64_t first = program.ops.front().target;
  return UInt128{blocks} * (work_of_block(program, warps, sanitized) + warps * first);
}

}  // namespace

struct Gpu::Step {
  std::string name;
  Dim3 grid, block;
  int line = 0;
  int registers_per_thread = 0;
  std::uint32_t local_bytes_per_thread = 0;
  Occupancy occupancy;
  std::optional<Program> program;  // empty for memsets and copies
  LaunchTotals totals;
  const ProgramSchedule* schedule = nullptr;  // null where there is no program
  ClockReading reading;
  std::vector<std::uint64_t> block_threads;
  SiteId first_site = 0;  // into traffic_; as many as totals.sites
};

Gpu::Gpu(Machine machine)
    : machine_(std::move(machine)),
      memory_(static_cast<std::uint64_t>(machine_.memory_bytes)),
      l2_(machine_.l2_bytes, machine_.l2_ways),
      printer_(std::make_unique<Printer>()) {}

Gpu::~Gpu() = default;

Status Gpu::load(ptx::Module module, std::string source_name, std::string source_path) {
  memory_.release_all(Memory::Region::globals);
  memory_.release_all(Memory::Region::constants);
  addresses_.clear();
  schedules_.clear();
  module_ = std::move(module);
  source_name_ = std::move(source_name);
  source_path_ = std::move(source_path);
  std::uint64_t bank = 0;  // of constant memory, what is taken
  for (const ptx::Variable& variable : module_->variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    if (variable.is_extern) {
      return Error{.message = fmt::format("`{}` is declared extern but defined nowhere", variable.name),
                   .file = source_path_};
    }
    const std::uint64_t size_bytes = std::max<std::uint64_t>(variable.size_bytes, 1);
    const auto element_bytes = static_cast<std::uint32_t>(std::max(ptx::size_bytes(variable.type), 1));
    const auto align_bytes = static_cast<std::uint64_t>(variable.align_bytes);
    const bool is_constant = variable.space == ptx::Space::constant;
    if (is_constant) bank = (bank + align_bytes - 1) / align_bytes * align_bytes % Memory::kConstantBankBytes;
    auto id = is_constant
                  ? memory_.allocate_constant(display_name(variable.name), size_bytes, element_bytes, bank)
                  : memory_.allocate(display_name(variable.name), size_bytes, element_bytes, Memory::Region::globals);
    if (is_constant) bank += size_bytes;
    if (!id) {
      Error error = id.error();
      error.file = source_path_;
      return error;
    }
    const Buffer& buffer = memory_.buffer(*id);
    addresses_[variable.name] = buffer.address;
    std::copy_n(variable.initial.begin(), std::min<std::size_t>(variable.initial.size(), buffer.size_bytes),
                buffer.data);
  }
  points_to_constants_ = points_to_constants(*module_);
  for (const auto& [name, number] : function_numbers(*module_)) addresses_[name] = number;
  for (const ptx::Variable& variable : module_->variables) {
    for (const auto& fixup : variable.fixups) {
      const auto to = addresses_.find(fixup.symbol);
      const auto at = addresses_.find(variable.name);
      if (to == addresses_.end() || at == addresses_.end() || fixup.offset_bytes + 8 > variable.size_bytes) continue;
      const std::uint64_t value = to->second + static_cast<std::uint64_t>(fixup.addend);
      std::memcpy(memory_.find(at->second)->data + fixup.offset_bytes, &value, sizeof value);
    }
  }
  return kOk;
}

void Gpu::begin_plan(const RunLimits& limits) {
  limits_ = limits;
  began_ = HostClock::now();
  plan_operations_ = 0;
  ordered_.clear();
  traffic_.clear();
  steps_.clear();
  fault_.reset();
  printer_->take();
  warnings_.clear();
  watched_line_ = 0;
  untraced_blocks_.clear();
  if (limits_.counts) {
    l2_.invalidate();
    l2_.use(memory_.frames());
  }
  memory_.watch(limits.sanitize);
}

Fault Gpu::placed(Fault fault, const std::string& kernel, const ptx::Function& function, std::uint32_t pc) const {
  fault.kernel = kernel;
  fault.file = source_path_;
  if (pc < function.instructions.size()) fault.line = module_->line_in(function.instructions[pc], source_name_);
  return fault;
}

Result<bool> Gpu::launch(const KernelCall& call) {
  ROOFWALK_CHECK(module_ && !fault_);
  const ptx::Function* function = module_->find_function(call.kernel);
  ROOFWALK_CHECK(function != nullptr && function->is_entry);
  auto step = std::make_unique<Step>();
  step->name = display_name(call.kernel);
  step->grid = call.grid;
  step->block = call.block;
  step->line = call.line;
  step->registers_per_thread = call.registers_per_thread;
  step->local_bytes_per_thread = call.local_bytes_per_thread;

  auto program = lower({.module = &*module_,
                        .function = function,
                        .grid = call.grid,
                        .block = call.block,
                        .dynamic_shared_bytes = call.dynamic_shared_bytes,
                        .arguments = call.arguments,
                        .address_of =
                            [this](const std::string& name) {
                              const auto it = addresses_.find(name);
                              return it == addresses_.end() ? std::uint64_t{0} : it->second;
                            },
                        .source_name = source_name_,
                        .points_to_constants = points_to_constants_,
                        .work_mode = {.counts = limits_.counts, .sanitized = limits_.sanitize},
                        .sms = machine_.sms});
  if (!program) {
    Error error = program.error();
    if (error.file.empty()) error.file = source_path_;
    return error;
  }
  step->program = std::move(*program);
  const ptx::Function& code = *step->program->function;  // with what the kernel calls

  auto occupancy = occupancy_of(machine_, {call.block.count(), call.registers_per_thread, step->program->shared_bytes});
  const auto too_much = [&](std::string message) {
    Fault fault;
    fault.kind = FaultKind::resource;
    fault.kernel = step->name;
    fault.file = source_path_;
    fault.line = call.line;
    fault.message = std::move(message);
    fault_ = std::move(fault);
    return false;
  };
  if (!occupancy) return too_much(occupancy.error().message);
  // As on hardware, local memory is set aside for every thread that could be resident.
  const std::uint64_t local_bytes =
      std::uint64_t{step->program->local_bytes} * machine_.max_threads_per_sm * machine_.sms;
  if (local_bytes > static_cast<std::uint64_t>(machine_.memory_bytes)) {
    return too_much(fmt::format("{} bytes of local memory a thread are {} for all resident threads, but {} has {}",
                                step->program->local_bytes, local_bytes, machine_.name, machine_.memory_bytes));
  }
  const std::uint64_t blocks =
      std::min<std::uint64_t>(call.grid.count(), std::uint64_t(occupancy->blocks_per_sm) * machine_.sms);
  const std::uint64_t register_bytes =
      blocks * ((call.block.count() + kWarpSize - 1) / kWarpSize) * step->program->register_bytes;
  if (register_bytes > kMaxRegisterBytes) {
    return too_much(
        fmt::format("the kernel has {} PTX registers, more than the virtual GPU can hold for {} blocks at once; "
                    "is a loop unrolled too far?",
                    code.registers.size(), blocks));
  }
  step->occupancy = *occupancy;
  const std::uint64_t warps = (call.block.count() + kWarpSize - 1) / kWarpSize;
  const std::uint64_t resident_local_bytes = blocks * warps * kWarpSize * step->program->local_bytes;
  if (resident_local_bytes > kMaxLocalBytes) {
    return too_much(
        fmt::format("{} bytes of local memory a thread are more than the virtual GPU can hold for {} blocks "
                    "at once",
                    step->program->local_bytes, blocks));
  }
  // Where not even a launch is left of the budget, it is the launches before that were too much.
  if (limits_.work >= work::kLaunch &&
      least_work(*step->program, call.grid.count(), warps, limits_.sanitize) > limits_.work) {
    return Error{
        .message = fmt::format("the grid of {} has {} blocks: to start them alone is more work than is left of "
                               "this run's budget",
                               step->name, call.grid.count()),
        .file = source_path_,
        .line = call.line,
        .advice = "launch fewer blocks, and let each thread do more"};
  }
  const std::uint64_t held = register_bytes + resident_local_bytes;
  // Each kernel of a plan counts as put in order once, whichever plan was the first to have it.
  const bool is_ordered = !limits_.counts || !ordered_.insert(call.kernel).second;
  const std::uint64_t order = is_ordered ? 0 : (code.instructions.size() + call.code.size()) * work::kOrdered;
  const std::uint64_t start = work::kLaunch + order + step->program->ops.size() * work::kOperation +
                              static_cast<std::uint64_t>(machine_.sms * machine_.l1_bytes) / work::kL1Bytes +
                              held / work::kHeldBytes;
  if (!charge(start, step->name, call.line, "the plan's launches are past its budget")) return false;
  // Every launch keeps its program and counters until the plan ends.
  plan_operations_ += step->program->ops.size();
  if (plan_operations_ > kMaxPlanOperations) {
    return too_much(
        fmt::format("the plan's launches together have more than {} instructions to keep; launch fewer, larger kernels",
                    kMaxPlanOperations));
  }
  step->first_site = static_cast<SiteId>(traffic_.size());
  traffic_.resize(traffic_.size() + code.instructions.size());

  std::vector<Multiprocessor> sms;
  for (int i = 0; i < machine_.sms; ++i) {
    sms.emplace_back(machine_).index = i;
    sms.back().l1.use(memory_.frames());
  }
  Launch launch(machine_, *step->program, memory_, l2_, traffic_, step->first_site);
  launch.line_of = [this, &code](std::uint32_t pc) { return module_->line_in(code.instructions[pc], source_name_); };
  printer_->begin_launch();
  launch.printer = printer_.get();
  if (limits_.counts) {
    // The order does not depend on the launch: its basic blocks are the kernel's.
    auto [at, is_new] = schedules_.try_emplace(call.kernel);
    // Where a kernel spills, ptxas has few registers left for loads that go ahead.
    constexpr int kLeftWhereItSpills = 24;
    const int registers = call.local_bytes_per_thread != 0 ? std::min(call.registers_per_thread, kLeftWhereItSpills)
                                                           : call.registers_per_thread;
    if (is_new) at->second = schedule(machine_, *step->program, call.code, registers);
    step->schedule = &at->second;
    set_latencies(machine_, at->second, *step->program);
  }
  const std::size_t launch_number = untraced_blocks_.size();
  limits_.traces.also.clear();
  if (launch_number < limits_.also_traced.size()) limits_.traces.also = limits_.also_traced[launch_number];
  limits_.spent_seconds = std::chrono::duration<double>(HostClock::now() - began_).count();
  GridTrace trace = run_grid(launch, {call.grid, call.block, step->occupancy.blocks_per_sm}, sms, limits_);
  untraced_blocks_.push_back(std::move(trace.missing));
  if (launch.refusal) return *launch.refusal;
  if (launch.watched_pc) watched_line_ = launch.line_of(*launch.watched_pc);
  for (auto& [pc, warning] : launch.warnings) {
    warnings_.push_back(placed(std::move(warning), step->name, code, pc));
  }
  if (launch.fault) {
    fault_ = placed(std::move(*launch.fault), step->name, code, launch.fault_pc);
    return false;
  }
  step->totals.sites = std::move(launch.sites);
  step->block_threads = std::move(launch.block_threads);
  for (Multiprocessor& sm : sms) {
    step->totals.sms.push_back({std::move(sm.block_executions), sm.blocks_run, sm.warps_run, sm.l1_lines, sm.l1_sectors,
                                sm.shared_wavefronts, sm.constant_passes});
  }
  std::vector<std::uint64_t> swaps;
  for (const Multiprocessor& sm : sms) {
    swaps.resize(std::max(swaps.size(), sm.swaps.size()));
    for (std::size_t i = 0; i < sm.swaps.size(); ++i) swaps[i] += sm.swaps[i];
  }
  const std::uint64_t most_swaps = swaps.empty() ? 0 : *std::max_element(swaps.begin(), swaps.end());
  if (limits_.counts && !trace.blocks.empty() && !read_time(trace, most_swaps, *step)) return false;
  steps_.push_back(std::move(step));
  return true;
}

bool Gpu::read_time(const GridTrace& trace, std::uint64_t most_swaps, Step& step) {
  std::uint64_t instructions = 0, loads_from_l2 = 0, loads_from_dram = 0, replayed = 0;
  for (const SmTotals& sm : step.totals.sms) {
    for (std::size_t b = 0; b < step.program->blocks.size(); ++b)
      instructions += sm.block_executions[b] * step.program->blocks[b].count;
  }
  for (const Site& site : step.totals.sites) {
    loads_from_l2 += site.served_by_l2;
    loads_from_dram += site.served_by_dram;
  }
  for (const BlockTrace& block : trace.blocks) replayed += block.instructions;
  limits_.work -= std::min(limits_.work, replayed * work::kReplayed);
  step.reading = read_clock({.machine = machine_,
                             .program = *step.program,
                             .schedule = *step.schedule,
                             .trace = trace,
                             .grid_blocks = step.grid.count(),
                             .blocks_per_sm = step.occupancy.blocks_per_sm,
                             .unsampled = limits_.traces.complete,
                             .key = limits_.traces.key,
                             .instructions = instructions,
                             .loads_from_l2 = loads_from_l2,
                             .loads_from_dram = loads_from_dram,
                             .most_swaps = most_swaps,
                             .most_operations = std::max(limits_.work / work::kModelled, work::kLeastModelled)});
  limits_.work -= std::min(limits_.work, step.reading.operations * work::kModelled);
  return step.reading.ended ||
         runs_too_long(step.name, step.line, "to model the time of this launch is past the budget");
}

bool Gpu::check_range(std::uint64_t address, std::uint64_t size_bytes, bool writes, const char* what, int line) {
  const Buffer* buffer = memory_.find(address);
  // No plan has a pointer to a constant: who comes there has guessed a number.
  const bool is_constant = Memory::is_constant(address);
  const bool is_inside = buffer != nullptr && buffer->contains(address, size_bytes) && !is_constant;
  if (is_inside && !(writes && buffer->read_only)) return true;
  Fault fault;
  fault.kind = is_inside ? FaultKind::read_only : FaultKind::out_of_bounds;
  fault.kernel = what;
  fault.file = source_path_;
  fault.line = line;
  if (is_inside) {
    fault.message = read_only_message(fmt::format("this {} writes", what), *buffer, address);
    fault.buffer = buffer->name;
    fault_ = std::move(fault);
    return false;
  }
  const Buffer* near = is_constant ? nullptr : buffer != nullptr ? buffer : memory_.nearest(address);
  fault.message =
      is_constant ? fmt::format(
                        "out of bounds: {} of {} bytes in constant memory: __constant__ variables hold what they "
                        "are compiled with, and only kernels read them, by their names",
                        what, size_bytes)
      : near == nullptr || buffer == nullptr
          ? fmt::format("out of bounds: {} of {} bytes at an address that belongs to no buffer", what, size_bytes)
          : fmt::format("out of bounds: {} of {} bytes from byte {} of {}, which has {} bytes", what, size_bytes,
                        address - near->address, near->name, near->size_bytes);
  if (near != nullptr) fault.buffer = near->name;
  fault_ = std::move(fault);
  return false;
}

// The traffic of a memset or copy: whole sectors at L2, a partly covered one as a partial write.
void Gpu::touch(std::uint64_t address, std::uint64_t size_bytes, bool write, Step& step) {
  Site& site = step.totals.sites[0];
  const std::uint64_t end = address + size_bytes;
  for (std::uint64_t line = address / kLineBytes; line * kLineBytes < end; ++line) {
    std::uint32_t bytes[4] = {0, 0, 0, 0};
    unsigned sectors = 0;
    for (unsigned s = 0; s < 4; ++s) {
      const std::uint64_t start = line * kLineBytes + s * kSectorBytes;
      const std::uint64_t from = std::max(start, address), to = std::min(start + kSectorBytes, end);
      if (from >= to) continue;
      sectors |= 1u << s;
      bytes[s] = static_cast<std::uint32_t>(((1ull << (to - from)) - 1) << (from - start));
    }
    const auto count = static_cast<std::uint64_t>(std::popcount(sectors));
    if (write) {
      site.l2_write_sectors += count;
      l2_.write(l2_.place_of(line), bytes, step.first_site, traffic_);
    } else {
      site.l2_read_sectors += count;
      const unsigned missing = l2_.read(l2_.place_of(line), sectors, step.first_site, traffic_);
      site.l2_hit_sectors += count - static_cast<std::uint64_t>(std::popcount(missing));
    }
  }
}

bool Gpu::charge(std::uint64_t work, const std::string& what, int line, const std::string& trouble) {
  if (work > limits_.work) return runs_too_long(what, line, trouble);
  limits_.work -= work;
  return true;
}

bool Gpu::runs_too_long(const std::string& what, int line, const std::string& trouble) {
  Fault fault;
  fault.kind = FaultKind::runaway;
  fault.kernel = what;
  fault.file = source_path_;
  fault.line = line;
  fault.message = "runs too long: " + trouble;
  fault_ = std::move(fault);
  return false;
}

// Bytes that a memset or copy moves are work as well: a plan of nothing else ends by its budget.
bool Gpu::charge_moved(std::uint64_t size_bytes, const char* what, int line) {
  return charge(
      work::kLaunch + size_bytes / kLineBytes * work::kMovedLine, what, line,
      fmt::format("the plan's memsets and copies are past its budget (this {} moves {} bytes)", what, size_bytes));
}

// A step that moves bytes.
Gpu::Step& Gpu::begin_transfer(const char* name, int line) {
  auto step = std::make_unique<Step>();
  step->name = name;
  step->line = line;
  step->first_site = static_cast<SiteId>(traffic_.size());
  traffic_.emplace_back();
  step->totals.sites.resize(1);
  steps_.push_back(std::move(step));
  return *steps_.back();
}

bool Gpu::set_memory(std::uint64_t address, std::uint8_t value, std::uint64_t size_bytes, int line) {
  ROOFWALK_CHECK(!fault_ && size_bytes != 0);
  if (!check_range(address, size_bytes, true, "memset", line) || !charge_moved(size_bytes, "memset", line))
    return false;
  const Buffer* buffer = memory_.find(address);
  std::memset(buffer->data + (address - buffer->address), value, size_bytes);
  memory_.define(address, size_bytes);
  if (limits_.watched.meets(address, size_bytes)) watched_line_ = line;
  Step& step = begin_transfer("memset", line);
  if (limits_.counts) touch(address, size_bytes, true, step);
  return true;
}

bool Gpu::copy_memory(std::uint64_t destination, std::uint64_t source, std::uint64_t size_bytes, int line) {
  ROOFWALK_CHECK(!fault_ && size_bytes != 0);
  if (!check_range(destination, size_bytes, true, "memcpy", line) ||
      !check_range(source, size_bytes, false, "memcpy", line) || !charge_moved(size_bytes, "memcpy", line))
    return false;
  const Buffer* to = memory_.find(destination);
  const Buffer* from = memory_.find(source);
  memory_.copy_defined(destination, source, size_bytes);
  if (limits_.watched.meets(destination, size_bytes)) watched_line_ = line;
  std::memmove(to->data + (destination - to->address), from->data + (source - from->address), size_bytes);
  Step& step = begin_transfer("memcpy", line);
  if (limits_.counts) {
    touch(source, size_bytes, false, step);
    touch(destination, size_bytes, true, step);
  }
  return true;
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
  if (step.program) {
    out.shared_bytes = step.program->shared_bytes;
    out.spilled_bytes_per_thread =
        step.local_bytes_per_thread - std::min(step.local_bytes_per_thread, step.program->local_bytes);
    out.resident_blocks_per_sm = step.occupancy.blocks_per_sm;
    out.occupancy = step.occupancy.warps_share;
    count_kernel(
        {*step.program, step.totals, step.block_threads, traffic, step.reading, *module_, source_name_, counted}, out);
  } else {
    count_transfer(step.totals.sites[0], traffic[0], counted, out.counters);
    if (step.line > 0) out.lines.push_back({step.line, out.counters});
  }
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (const auto value = out.counters[counter]) total.add(counter, *value);
  }
  if (!limits_.counts) return out;
  step.totals.dram_bytes = *out.counters[Counter::dram_read_bytes] + *out.counters[Counter::dram_write_bytes];
  step.totals.l2_sectors = *out.counters[Counter::l2_read_sectors] + *out.counters[Counter::l2_write_sectors];
  step.totals.flops_f32 = *out.counters[Counter::flops_f32];
  step.totals.flops_f16 = *out.counters[Counter::flops_f16];
  step.totals.flops_f64 = *out.counters[Counter::flops_f64];
  step.totals.flops_tensor = *out.counters[Counter::flops_tensor];
  static const ProgramSchedule kNone;
  out.parts = least_time(machine_, step.schedule != nullptr ? *step.schedule : kNone, step.totals);
  const double busiest = busiest_ns(out.parts), clock_ns = step.reading.cycles / machine_.clock_hz * 1e9;
  out.parts.latency_ns = std::max(0.0, clock_ns - busiest);
  out.parts.launch_ns = machine_.launch_ns;
  out.elapsed_ns = out.parts.launch_ns + std::max(busiest, clock_ns);
  return out;
}

RunRecord Gpu::end_plan() {
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
