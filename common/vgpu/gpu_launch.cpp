// The stages of a launch: lower the PTX, check the limits of GPU and host, schedule the code for the timing model,
// run the blocks, model the time.
#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/int128.h"
#include "common/vgpu/exec/print.h"
#include "common/vgpu/gpu.h"
#include "common/vgpu/gpu_step.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/state/work.h"
#include "common/vgpu/timing/block_latency.h"
#include "common/vgpu/timing/occupancy.h"
#include "common/vgpu/timing/timing_model.h"

namespace roofwalk::vgpu {
namespace {

// Limit on the host memory for registers of resident blocks. PTX registers need more memory here than on hardware: each
// one that carries a value between basic blocks has memory of its own, whereas ptxas may assign one machine register to
// several of them.
constexpr std::uint64_t kMaxRegisterBytes = 1ull << 30;
constexpr std::uint64_t kMaxLocalBytes = 2ull << 30;  // of resident threads, in host memory
constexpr std::uint64_t kMaxPlanOperations = 4'000'000;

// Returns the least work that the grid can take: its blocks must start, and each warp must enter the first basic block.
UInt128 least_work(const Program& program, std::uint64_t blocks, std::uint64_t warps, bool sanitized) {
  const std::uint64_t first = program.ops.front().target;
  return UInt128{blocks} * (work_of_block(program, warps, sanitized) + warps * first);
}

std::uint64_t work_of_lowering(const Program& program) {
  const std::size_t variables = program.function->variables.size() + program.function_names.size();
  return program.ops.size() * work::kOperation + variables * work::kVariable +
         program.function->registers.size() * work::kRegister;
}

std::uint64_t warps_of(const Dim3& block) { return (block.count() + kWarpSize - 1) / kWarpSize; }

// Returns the largest entry of a list that each SM has, added up over all SMs.
template <class Number>
std::uint64_t most_of(const std::vector<Multiprocessor>& sms, std::vector<Number> Multiprocessor::*list) {
  std::vector<std::uint64_t> sums;
  for (const Multiprocessor& sm : sms) {
    const std::vector<Number>& own = sm.*list;
    sums.resize(std::max(sums.size(), own.size()));
    for (std::size_t i = 0; i < own.size(); ++i) sums[i] += own[i];
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

// Returns the cycles for which L2 takes turns in the most contended place of global memory.
double most_contended_cycles(const Machine& machine, const std::vector<Multiprocessor>& sms) {
  const auto swaps = static_cast<double>(most_of(sms, &Multiprocessor::swaps));
  const auto updates = static_cast<double>(most_of(sms, &Multiprocessor::update_cycles));
  return std::max(swaps * swap_cycles(machine, false), updates / kUpdateTicksOfACycle);
}

}  // namespace

Fault Gpu::placed(Fault fault, const std::string& kernel, const ptx::Function& function, std::uint32_t pc) const {
  fault.kernel = kernel;
  fault.file = source_path_;
  if (pc < function.instructions.size()) fault.line = module_->line_in(function.instructions[pc], source_name_);
  return fault;
}

Error Gpu::in_source(Error error) const {
  if (error.file.empty()) error.file = source_path_;
  return error;
}

bool Gpu::too_much(const Step& step, std::string message) {
  Fault fault;
  fault.kind = FaultKind::resource;
  fault.kernel = step.name;
  fault.file = source_path_;
  fault.line = step.line;
  fault.message = std::move(message);
  fault_ = std::move(fault);
  return false;
}

Result<const Gpu::Kernel*> Gpu::kernel_called(const KernelCall& call) {
  const std::string& name = call.kernel;
  auto& kernels = loaded_->kernels[source_name_];
  const auto in_this_plan = [this](Kernel& kernel) {
    if (kernel.plan != plan_) kept_bytes_ += kernel.kept_bytes;
    kernel.plan = plan_;
    return &kernel;
  };
  if (const auto known = kernels.find(name); known != kernels.end()) return in_this_plan(*known->second);
  const ptx::Function* function = module_->find_function(name);
  ROOFWALK_CHECK(function != nullptr && function->is_entry);
  ROOFWALK_TRY(KernelCode code, code_of(*module_, *function));
  std::set<int> lines;
  for (const ptx::Instruction& in : code.function->instructions) lines.insert(module_->line_in(in, source_name_));
  SharedAccesses accesses = find_shared_accesses(*code.function, code.blocks, call.code);
  const std::uint64_t kept_bytes = code.host_bytes + accesses.of.size() * sizeof(SharedAccess);
  auto& kernel = kernels[name];
  kernel = std::make_unique<Kernel>(Kernel{function, std::move(code), std::move(accesses), lines.size(),
                                           takes_parameter_address(*function), kept_bytes});
  return in_this_plan(*kernel);
}

// A launch's parameter block in constant memory, for kernels that take its address. Lives as long as the launch.
class Gpu::ParameterBlock {
 public:
  ParameterBlock() = default;
  ParameterBlock(Memory& memory, int id) : memory_(&memory), id_(id) {}
  ParameterBlock(ParameterBlock&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), id_(other.id_) {}
  ParameterBlock& operator=(ParameterBlock&&) = delete;
  ~ParameterBlock() {
    if (memory_ != nullptr) memory_->release(id_);
  }

  std::uint64_t address() const { return memory_ == nullptr ? 0 : memory_->buffer(id_).address; }

 private:
  Memory* memory_ = nullptr;
  int id_ = 0;
};

Result<Gpu::ParameterBlock> Gpu::place_parameters(const KernelCall& call) {
  const auto kernel = kernel_called(call);
  if (!kernel) return in_source(kernel.error());
  if (call.arguments.empty() || !(*kernel)->takes_parameter_address) return ParameterBlock();
  constexpr std::uint64_t kPlace = 96 << 10;  // in the bank, behind all __constant__ variables: at most 64 KiB
  ROOFWALK_TRY(const int id, memory_.allocate_constant("the kernel's parameters", call.arguments.size(), 1, kPlace));
  std::ranges::copy(call.arguments, memory_.buffer(id).data);
  return ParameterBlock(memory_, id);
}

Result<std::unique_ptr<Gpu::Step>> Gpu::lower_kernel(const KernelCall& call, std::uint64_t parameters_address) {
  const auto kernel = kernel_called(call);
  if (!kernel) return in_source(kernel.error());
  auto step = std::make_unique<Step>();
  step->kernel = *kernel;
  step->name = display_name(call.kernel);
  step->grid = call.grid;
  step->block = call.block;
  step->line = call.line;
  step->registers_per_thread = call.registers_per_thread;
  step->local_bytes_per_thread = call.local_bytes_per_thread;
  auto program = lower({.module = module_,
                        .function = (*kernel)->function,
                        .grid = call.grid,
                        .block = call.block,
                        .dynamic_shared_bytes = call.dynamic_shared_bytes,
                        .arguments = call.arguments,
                        .parameters_address = parameters_address,
                        .grid_workspace = call.grid_workspace,
                        .address_of =
                            [this](const std::string& name) {
                              const auto it = loaded_->addresses.find(name);
                              return it == loaded_->addresses.end() ? std::uint64_t{0} : it->second;
                            },
                        .source_name = source_name_,
                        .has_heap = heap_.has_value(),
                        .points_to_constants = loaded_->points_to_constants,
                        .work_mode = {.counts = limits_.counts, .sanitized = limits_.sanitize},
                        .sms = machine_.sms,
                        .turns_seed = limits_.sanitize && !limits_.counts ? limits_.sanitized_seed : 0},
                       (*kernel)->code);
  if (!program) return in_source(program.error());
  step->program = std::move(*program);
  step->program->shared_accesses = (*kernel)->shared_accesses.of;
  step->shared_bytes = step->program->shared_bytes - step->program->reserved_shared_bytes;
  step->local_bytes = step->program->local_bytes;
  return step;
}

std::optional<std::uint64_t> Gpu::resident_bytes(Step& step) {
  auto occupancy = occupancy_of(machine_, {step.block.count(), step.registers_per_thread, step.shared_bytes});
  const auto refuse = [&](std::string message) {
    too_much(step, std::move(message));
    return std::nullopt;
  };
  if (!occupancy) return refuse(occupancy.error().message);
  // As on hardware, local memory is reserved for every thread that could be resident.
  const std::uint64_t local_bytes =
      std::uint64_t{step.program->local_bytes} * machine_.max_threads_per_sm * machine_.sms;
  if (local_bytes > static_cast<std::uint64_t>(machine_.memory_bytes)) {
    return refuse(fmt::format("{} bytes of local memory a thread are {} for all resident threads, but {} has {}",
                              step.program->local_bytes, local_bytes, machine_.name, machine_.memory_bytes));
  }
  const std::uint64_t blocks =
      std::min<std::uint64_t>(step.grid.count(), std::uint64_t(occupancy->blocks_per_sm) * machine_.sms);
  const std::uint64_t register_bytes = blocks * warps_of(step.block) * step.program->register_bytes;
  if (register_bytes > kMaxRegisterBytes) {
    return refuse(
        fmt::format("the kernel has {} PTX registers, more than the virtual GPU can hold for {} blocks at once; "
                    "is a loop unrolled too far?",
                    step.program->function->registers.size(), blocks));
  }
  step.occupancy = *occupancy;
  const std::uint64_t resident_local_bytes = blocks * warps_of(step.block) * kWarpSize * step.program->local_bytes;
  if (resident_local_bytes > kMaxLocalBytes) {
    return refuse(
        fmt::format("{} bytes of local memory a thread are more than the virtual GPU can hold for {} blocks "
                    "at once",
                    step.program->local_bytes, blocks));
  }
  return register_bytes + resident_local_bytes;
}

Result<bool> Gpu::charge_launch(const KernelCall& call, std::uint64_t held_bytes, const Step& step) {
  // This check is skipped if less than work::kLaunch is left: then earlier launches used up the budget, and the charge
  // below says so.
  if (limits_.work >= work::kLaunch &&
      least_work(*step.program, call.grid.count(), warps_of(call.block), limits_.sanitize) > limits_.work) {
    return Error{
        .message = fmt::format(
            "the grid of {} has {} blocks: just to start them takes more work than is left of this run's budget",
            step.name, call.grid.count()),
        .file = source_path_,
        .line = call.line,
        .advice = "launch fewer blocks, and let each thread do more"};
  }
  // Scheduling is charged once per kernel and plan, even if the schedule is cached from an earlier plan.
  const bool is_ordered = !limits_.counts || !ordered_.insert(call.kernel).second;
  const std::size_t instructions = step.program->function->instructions.size();
  const std::uint64_t order = is_ordered ? 0 : (instructions + call.code.size()) * work::kOrdered;
  const std::uint64_t start = work::kLaunch + order + work_of_lowering(*step.program) +
                              static_cast<std::uint64_t>(machine_.sms * machine_.l1_bytes) / work::kL1Bytes +
                              held_bytes / work::kHeldBytes;
  if (!charge(start, step.name, call.line, "the plan's launches exceed its budget")) return false;
  return can_keep(step);
}

// False, with a fault, if the plan would keep too much in memory: until its end, a plan keeps the counters of every
// launch and the code of every kernel.
bool Gpu::can_keep(const Step& step) {
  plan_operations_ += step.program->ops.size();
  if (plan_operations_ > kMaxPlanOperations) {
    return too_much(step, fmt::format("the plan's launches together have more than {} instructions to keep; launch "
                                      "fewer, larger kernels",
                                      kMaxPlanOperations));
  }
  const auto sms = static_cast<std::uint64_t>(machine_.sms);
  const KernelCode& code = step.kernel->code;
  kept_bytes_ += sizeof step + sms * sizeof(SmTotals) + (sms + 1) * code.blocks.size() * sizeof(std::uint64_t) +
                 code.function->instructions.size() * (sizeof(InstructionCounters) + sizeof(InstructionTraffic) +
                                                       (limits_.counts ? sizeof(WarpCycles) : 0)) +
                 step.kernel->lines * sizeof(LineCounters);
  if (kept_bytes_ <= limits_.kept_bytes) return true;
  return too_much(step, fmt::format("the plan's launches together have more than {} MiB of code and counters to keep; "
                                    "launch fewer, smaller kernels",
                                    limits_.kept_bytes >> 20));
}

// Schedules the kernel's code at its first launch; later launches share the schedule.
void Gpu::put_in_order(const KernelCall& call, Step& step) {
  auto [at, is_new] = loaded_->schedules.try_emplace(call.kernel);
  // In a kernel that spills, ptxas has about this many registers for hoisted loads.
  constexpr int kLeftWhereItSpills = 24;
  const int registers = call.local_bytes_per_thread != 0 ? std::min(call.registers_per_thread, kLeftWhereItSpills)
                                                         : call.registers_per_thread;
  if (is_new) at->second = schedule(machine_, *step.program, call.code, registers);
  step.schedule = &at->second;
  set_latencies(machine_, at->second, *step.program);
}

GridTrace Gpu::run_blocks(Launch& launch, std::vector<Multiprocessor>& sms, const Step& step) {
  const std::size_t launch_number = untraced_blocks_.size();
  limits_.traces.also.clear();
  if (launch_number < limits_.also_traced.size()) limits_.traces.also = limits_.also_traced[launch_number];
  limits_.spent_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  GridTrace trace = run_grid(launch, {step.grid, step.block, step.occupancy.blocks_per_sm}, sms, limits_);
  untraced_blocks_.push_back(std::move(trace.missing));
  return trace;
}

// Returns how many blocks of a grid touched no memory.
static std::uint64_t idle_blocks(const GridTrace& trace) {
  std::uint64_t idle = 0;
  if (trace.strata.empty()) {
    for (const BlockTrace& block : trace.blocks) idle += block.work.memory == 0 ? 1 : 0;
  } else {
    for (const Stratum& stratum : trace.strata) idle += stratum.memory == 0 ? stratum.blocks : 0;
  }
  return idle;
}

// Warns of a grid with many blocks that have nothing to do; `warning` names the launch. Of launches at one line, one is
// enough.
static void note_idle_blocks(const GridTrace& trace, std::uint64_t blocks, Fault warning,
                             std::vector<Fault>& warnings) {
  constexpr std::uint64_t kFew = 8;  // up to one of so many is usual at the ends of the work
  const std::uint64_t idle = idle_blocks(trace);
  const auto same = [&](const Fault& known) { return known.line == warning.line && known.kernel == warning.kernel; };
  if (idle * kFew <= blocks || std::any_of(warnings.begin(), warnings.end(), same)) return;
  warning.kind = FaultKind::resource;
  warning.message = fmt::format(
      "{} of the {} blocks touch no memory, as if they had nothing to do: does the grid still have a thread for each "
      "element, where a thread takes several?",
      idle, blocks);
  warnings.push_back(std::move(warning));
}

void Gpu::take_totals(Launch& launch, std::vector<Multiprocessor>& sms, Step& step) {
  step.totals.sites = std::move(launch.sites);
  step.block_threads = std::move(launch.block_threads);
  for (Multiprocessor& sm : sms) {
    step.totals.sms.push_back({std::move(sm.block_executions), sm.blocks_run, sm.warps_run, sm.l1_lines,
                               sm.l1_wavefronts, sm.shared_wavefronts, sm.constant_passes, sm.updates, sm.requests,
                               sm.deepest_calls});
  }
}

Result<bool> Gpu::launch(const KernelCall& call) {
  ROOFWALK_CHECK(module_ != nullptr && !fault_);
  ROOFWALK_TRY(const ParameterBlock parameters, place_parameters(call));
  ROOFWALK_TRY(std::unique_ptr<Step> step, lower_kernel(call, parameters.address()));
  const ptx::Function& code = *step->kernel->code.function;  // with the functions that the kernel calls
  const auto held_bytes = resident_bytes(*step);
  if (!held_bytes) return false;
  ROOFWALK_TRY(const bool is_charged, charge_launch(call, *held_bytes, *step));
  if (!is_charged) return false;
  step->first_site = static_cast<InstructionId>(traffic_.size());
  traffic_.resize(traffic_.size() + code.instructions.size());

  std::vector<Multiprocessor> sms;
  sms.reserve(static_cast<std::size_t>(machine_.sms));
  const std::int64_t l1_bytes = l1_bytes_beside(machine_, step->occupancy.shared_bytes);
  for (int i = 0; i < machine_.sms; ++i) {
    sms.emplace_back(machine_, l1_bytes).index = i;
    sms.back().l1.use(memory_.frames());
  }
  Launch launch(machine_, *step->program, memory_, l2_, traffic_, step->first_site);
  launch.line_of = [this, &code](std::uint32_t pc) { return module_->line_in(code.instructions[pc], source_name_); };
  launch.is_of_header = [this, &code](std::uint32_t pc) {
    return module_->is_of_header(code.instructions[pc], source_name_);
  };
  for (const auto& [buffer, store] : unset_stores_) {
    if (store.is_shuffled) launch.shuffled_earlier.insert(buffer);
  }
  printer_->begin_launch();
  launch.printer = printer_.get();
  launch.heap = heap_ ? &*heap_ : nullptr;
  memory_.note_stores(limits_.sanitize && std::any_of(code.instructions.begin(), code.instructions.end(),
                                                      [](const auto& in) { return in.non_coherent; }));
  if (limits_.counts) put_in_order(call, *step);
  const GridTrace trace = run_blocks(launch, sms, *step);
  if (launch.refusal) return *launch.refusal;
  if (launch.watched_pc) watched_line_ = launch.line_of(*launch.watched_pc);
  for (auto& [pc, warning] : launch.warnings) {
    warnings_.push_back(placed(std::move(warning), step->name, code, pc));
  }
  for (auto& [buffer, store] : launch.unset_stores) {
    const auto earlier = unset_stores_.find(store.earlier);
    Fault fault = earlier != unset_stores_.end() ? earlier->second.fault
                                                 : placed(std::move(store.fault), step->name, code, store.pc);
    unset_stores_.try_emplace(buffer, UnsetStore{std::move(fault), store.is_shuffled});
  }
  if (launch.fault) {
    // What is read too early is reported where it is read, rather than where it is written later.
    if (launch.fault->kind == FaultKind::race) find_unset_results();
    const auto store = unset_stores_.find(launch.read_unset_from);
    if (store != unset_stores_.end()) fault_ = std::move(store->second.fault);
    if (!fault_) fault_ = placed(std::move(*launch.fault), step->name, code, launch.fault_pc);
    return false;
  }
  take_totals(launch, sms, *step);
  if (limits_.counts && !trace.blocks.empty()) {
    step->totals.most_contended_cycles = most_contended_cycles(machine_, sms);
    Fault launched;
    launched.kernel = step->name, launched.file = source_path_, launched.line = step->line;
    note_idle_blocks(trace, step->grid.count(), std::move(launched), warnings_);
    if (!read_time(trace, *step)) return false;
  }
  step->program.reset();
  steps_.push_back(std::move(step));
  return true;
}

bool Gpu::read_time(const GridTrace& trace, Step& step) {
  std::uint64_t instructions = 0, loads_from_l2 = 0, loads_from_dram = 0, replayed = 0;
  for (const SmTotals& sm : step.totals.sms) {
    for (std::size_t b = 0; b < step.program->blocks.size(); ++b)
      instructions += sm.block_executions[b] * step.program->blocks[b].count;
  }
  for (const InstructionCounters& site : step.totals.sites) {
    loads_from_l2 += site.served_by_l2;
    loads_from_dram += site.served_by_dram;
  }
  for (const BlockTrace& block : trace.blocks) replayed += block.instructions;
  limits_.work -= std::min(limits_.work, replayed * work::kReplayed);
  step.reading = model_time({.machine = machine_,
                             .program = *step.program,
                             .schedule = *step.schedule,
                             .trace = trace,
                             .grid_blocks = step.grid.count(),
                             .blocks_per_sm = step.occupancy.blocks_per_sm,
                             .key = limits_.traces.key,
                             .instructions = instructions,
                             .loads_from_l2 = loads_from_l2,
                             .loads_from_dram = loads_from_dram,
                             .most_contended_cycles = step.totals.most_contended_cycles,
                             .most_operations = std::max(limits_.work / work::kModelled, work::kLeastModelled)});
  limits_.work -= std::min(limits_.work, step.reading.operations * work::kModelled);
  return step.reading.ended ||
         runs_too_long(step.name, step.line, "modelling the time of this launch exceeds the budget");
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

}  // namespace roofwalk::vgpu
