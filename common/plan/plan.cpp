#include "common/plan/plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/base/json.h"
#include "common/plan/externs.h"
#include "common/plan/parse_artifact.h"
#include "common/plan/tables.h"
#include "common/vgpu/exec/grid.h"
#include "common/vgpu/gpu.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk {
namespace {

// Numbers that represent kernels' addresses; they are outside every memory region.
constexpr std::uint64_t kKernelBase = 0x6000'0000'0000, kKernelStride = 16;
// Numbers that represent addresses of __constant__ variables; the stride is larger than any such variable.
constexpr std::uint64_t kConstantBase = 0x6800'0000'0000, kConstantStride = 1 << 20;

// Returns a machine that runs one thread. The sizes of its caches do not matter, but the virtual GPU divides by them.
Machine plan_machine() {
  Machine machine;
  machine.name = "plan";
  machine.sms = 1;
  machine.l1_bytes = machine.l1_shared_bytes = 128;
  machine.l1_ways = 1;
  machine.l2_bytes = 128;
  machine.l2_ways = 1;
  return machine;
}

Result<std::vector<std::uint8_t>> parameter_block(const Artifact& artifact, const ptx::Function& solve,
                                                  std::span<const ArgumentBytes> arguments) {
  const Error mismatch{.message = "the parameters of SOLVE are not those of this chapter",
                       .file = artifact.source_path,
                       .advice = "keep the line `SOLVE(...)` as it was in the starter"};
  if (solve.parameters.size() != arguments.size()) return mismatch;
  const vgpu::ParameterLayout layout = vgpu::parameter_layout(solve);
  std::vector<std::uint8_t> block(layout.size_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (solve.parameters[i].size_bytes != arguments[i].size()) return mismatch;
    std::copy(arguments[i].begin(), arguments[i].end(), block.begin() + layout.offsets[i]);
  }
  return block;
}

// The numbers that represent a plan's pointers to kernels and to __constant__ variables.
struct PlanAddresses {
  std::map<std::uint64_t, std::string> kernels, constants;
  std::map<std::string, std::uint64_t> of_name;
};

PlanAddresses addresses_of(const ptx::Module& module, const ptx::Function& solve) {
  PlanAddresses out{.kernels = {}, .constants = {}, .of_name = vgpu::function_numbers(module)};
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_extern || &function == &solve) continue;
    const std::uint64_t number = kKernelBase + out.kernels.size() * kKernelStride;
    out.kernels[number] = function.name;
    out.of_name[function.name] = number;
  }
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space != ptx::Space::constant) continue;
    const std::uint64_t number = kConstantBase + out.constants.size() * kConstantStride;
    out.constants[number] = variable.name;
    out.of_name[variable.name] = number;
  }
  return out;
}

// Puts the tables into the memory that SOLVE reads, where it may not write them. The compiler makes such tables, too:
// the dim3 of a launch in an inlined function is one.
Status place_tables(const ptx::Module& module, const ptx::Function& solve, vgpu::Memory& memory,
                    PlanAddresses& addresses) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  std::uint64_t bytes = 0;
  std::vector<std::pair<const ptx::Variable*, int>> placed;
  for (const ptx::Variable* table : tables_of(module, solve)) {
    if (table->size_bytes > kMostBytes - bytes) continue;
    bytes += table->size_bytes;
    ROOFWALK_TRY(const int id, memory.allocate(vgpu::display_name(table->name), table->size_bytes, 1,
                                               vgpu::Memory::Region::arguments));
    memory.protect(id);
    const vgpu::Buffer& buffer = memory.buffer(id);
    std::copy_n(table->initial.begin(), std::min<std::uint64_t>(table->initial.size(), table->size_bytes), buffer.data);
    addresses.of_name[table->name] = buffer.address;
    placed.emplace_back(table, id);
  }
  for (const auto& [table, id] : placed) {
    for (const ptx::Variable::Fixup& fixup : table->fixups) {
      const auto to = addresses.of_name.find(fixup.symbol);
      if (to == addresses.of_name.end() || fixup.offset_bytes + 8 > table->size_bytes) continue;
      const std::uint64_t value = to->second + static_cast<std::uint64_t>(fixup.addend);
      std::memcpy(memory.buffer(id).data + fixup.offset_bytes, &value, sizeof value);
    }
  }
  return kOk;
}

// Lowers SOLVE to a program for one thread. `addresses`: by name of a variable or function.
Result<vgpu::Program> lower_solve(const Artifact& artifact, const ptx::Module& module, const ptx::Function& solve,
                                  const std::map<std::string, std::uint64_t>& addresses,
                                  std::span<const std::uint8_t> arguments) {
  auto program = vgpu::lower({.module = &module,
                              .function = &solve,
                              .grid = {1, 1, 1},
                              .block = {1, 1, 1},
                              .dynamic_shared_bytes = 0,
                              .arguments = arguments,
                              .address_of =
                                  [&](const std::string& name) {
                                    const auto it = addresses.find(name);
                                    return it == addresses.end() ? std::uint64_t{0} : it->second;
                                  },
                              .source_name = artifact.source_name,
                              .may_call_externs = true});
  if (program) return program;
  Error error = program.error();
  if (error.file.empty()) error.file = artifact.source_path;
  return error;
}

// Explains why a plan is refused. SOLVE's own loads and stores may access only the arguments of launches and, to read
// them, tables; all other memory is data, which only kernels may access.
Error refusal_of(const Artifact& artifact, const ptx::Module& module, const ptx::Function& solve,
                 const vgpu::Launch& launch) {
  Error error{.message = launch.fault->message, .file = artifact.source_path};
  const ptx::Instruction* in =
      launch.fault_pc < solve.instructions.size() ? &solve.instructions[launch.fault_pc] : nullptr;
  if (in != nullptr) error.line = module.line_in(*in, artifact.source_name);
  switch (launch.fault->kind) {
    case FaultKind::out_of_bounds:
    case FaultKind::read_only:
    case FaultKind::misaligned: {
      const bool store = launch.fault->kind == FaultKind::read_only ||
                         (in != nullptr && ptx::info(in->opcode).form == ptx::Form::store);
      error.message = store ? "solve writes data" : "solve reads data";
      error.advice = "solve only plans launches; its pointers may be passed to kernels, not used";
      break;
    }
    case FaultKind::runaway:
      error.message =
          "solve runs too long: it only plans launches, and is still not done after its budget of instructions";
      error.advice = "is a loop endless?";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace

Result<Plan> make_plan(const Artifact& artifact, std::span<const ArgumentBytes> arguments,
                       const std::function<Result<std::uint64_t>(std::uint64_t)>& allocate_scratch,
                       const PlanLimits& limits, const Machine* asked_about) {
  ROOFWALK_TRY(const ptx::Module module, parse_artifact(artifact));
  const ptx::Function* solve = module.find_function("solve");
  if (solve == nullptr || !solve->is_entry || solve->is_extern) {
    return Error{.message = "there is no SOLVE(...) in this file",
                 .file = artifact.source_path,
                 .advice = "the starter shows it: `./roofwalk reset` keeps your file and brings the starter back"};
  }
  ROOFWALK_TRY(const std::vector<std::uint8_t> block, parameter_block(artifact, *solve, arguments));

  PlanAddresses addresses = addresses_of(module, *solve);
  vgpu::Memory memory(limits.max_steps << 16);
  ROOFWALK_TRY_STATUS(place_tables(module, *solve, memory, addresses));
  ROOFWALK_TRY(const vgpu::Program program, lower_solve(artifact, module, *solve, addresses.of_name, block));

  const Machine machine = plan_machine();
  vgpu::L2Cache l2(machine.l2_bytes, machine.l2_ways);
  std::vector<vgpu::InstructionTraffic> traffic(program.function->instructions.size());
  std::vector<vgpu::Multiprocessor> sms;
  sms.emplace_back(machine, machine.l1_bytes);
  vgpu::Launch launch(machine, program, memory, l2, traffic, 0);
  PlanBuilder builder{module,      artifact.source_name,        artifact.source_path, limits,
                      memory,      addresses.kernels,           addresses.constants,  allocate_scratch,
                      asked_about, artifact.may_call_libraries, artifact.kernels};
  launch.call_hook = [&builder](const ptx::Instruction& call, const CallArguments& call_arguments) {
    return answer_call(builder, call, call_arguments);
  };
  constexpr double kSeconds = 20;
  vgpu::RunLimits budget{limits.max_instructions, kSeconds, {.instructions = 0}};
  vgpu::run_grid(launch, {.grid = {1, 1, 1}, .block = {1, 1, 1}, .blocks_per_sm = 1}, sms, budget);
  if (launch.refusal) return *launch.refusal;
  if (launch.fault) return refusal_of(artifact, module, *program.function, launch);
  if (builder.plan.steps.empty()) {
    return Error{
        .message = "solve launches nothing",
        .file = artifact.source_path,
        .line = solve->instructions.empty() ? 0 : module.line_in(solve->instructions.front(), artifact.source_name),
        .advice = "launch a kernel: kernel<<<blocks, threads>>>(...)"};
  }
  return std::move(builder.plan);
}

Json to_json(const Plan& plan) {
  Json out = Json::array();
  for (const PlanStep& step : plan.steps) {
    if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
      out.push_back({{"step", "launch"},
                     {"kernel", launch->kernel},
                     {"grid", {launch->grid.x, launch->grid.y, launch->grid.z}},
                     {"block", {launch->block.x, launch->block.y, launch->block.z}},
                     {"dynamic_shared_bytes", launch->dynamic_shared_bytes},
                     {"arguments", launch->arguments},
                     {"line", launch->line}});
    } else if (const auto* set = std::get_if<MemsetStep>(&step)) {
      out.push_back({{"step", "memset"},
                     {"address", set->address},
                     {"value", set->value},
                     {"size_bytes", set->size_bytes},
                     {"line", set->line}});
    } else {
      const auto& copy = std::get<CopyStep>(step);
      out.push_back({{"step", "copy"},
                     {"destination", copy.destination},
                     {"source", copy.source},
                     {"size_bytes", copy.size_bytes},
                     {"line", copy.line}});
    }
  }
  return out;
}

}  // namespace roofwalk
