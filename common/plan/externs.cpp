#include "common/plan/externs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "common/vgpu/gpu.h"
#include "common/vgpu/lowering/lower.h"
#include "common/vgpu/program/program.h"

namespace roofwalk {
namespace {

constexpr std::uint8_t kUnset = 0xa5;  // value of a parameter byte before the plan stores it
constexpr std::uint64_t kMaxGridX = 0x7fff'ffff, kMaxGridYZ = 65535;  // CUDA programming guide, compute capabilities
constexpr std::uint64_t kMaxBlockThreads = 1024, kMaxBlockZ = 64;
constexpr std::uint64_t kMostConstantBytes = 1 << 16;
constexpr std::string_view kRuntime = "__cudaCDP2";  // what the names of the runtime's functions begin with

Status add_step(PlanBuilder& builder, const ptx::Instruction& in, PlanStep step) {
  if (builder.plan.steps.size() >= builder.limits.max_steps) {
    return builder.refuse(
        in, fmt::format("solve launches more than {} kernels, memsets and copies", builder.limits.max_steps),
        "do the loop inside a kernel");
  }
  builder.plan.steps.push_back(std::move(step));
  return kOk;
}

Result<vgpu::CallAnswer> get_parameter_buffer(PlanBuilder& builder, const ptx::Instruction& in,
                                              const CallArguments& arguments) {
  ROOFWALK_TRY(KernelLaunch launch,
               checked_launch(builder, in, argument<std::uint64_t>(arguments, 0), dimensions(arguments, 1),
                              dimensions(arguments, 2), argument<std::uint32_t>(arguments, 3)));
  constexpr std::size_t kMaxOpenLaunches = 16;
  if (builder.open_launches.size() >= kMaxOpenLaunches) {
    return builder.refuse(in, "solve asks for launch arguments again and again without launching");
  }
  ROOFWALK_TRY(const vgpu::Buffer* buffer,
               argument_buffer(builder, static_cast<std::uint32_t>(launch.arguments.size())));
  builder.open_launches[buffer->address] = std::move(launch);
  return vgpu::CallAnswer{buffer->address};
}

// Returns the table (tables.h) that contains an address; nullptr if none does.
const vgpu::Buffer* table_at(const PlanBuilder& builder, std::uint64_t address) {
  const vgpu::Buffer* buffer = builder.memory.find(address);
  return buffer != nullptr && buffer->read_only ? buffer : nullptr;
}

// Refuses arguments that are addresses of tables: these are not the addresses that the tables have on the device.
Status refuse_tables(const PlanBuilder& builder, const ptx::Instruction& in, const KernelLaunch& launch) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at + sizeof word <= launch.arguments.size(); at += sizeof word) {
    std::memcpy(&word, launch.arguments.data() + at, sizeof word);
    if (const vgpu::Buffer* table = table_at(builder, word)) {
      return builder.refuse(in, fmt::format("solve passes the address of `{}` to a kernel", table->name),
                            "a kernel may use such a table by its name");
    }
  }
  return kOk;
}

Result<vgpu::CallAnswer> launch_device(PlanBuilder& builder, const ptx::Instruction& in,
                                       const CallArguments& arguments) {
  const auto address = argument<std::uint64_t>(arguments, 0);
  const auto it = builder.open_launches.find(address);
  if (it == builder.open_launches.end())
    return builder.refuse(in, "solve launches with an argument buffer that it did not ask for");
  if (argument<std::uint64_t>(arguments, 1) != 0) {
    return builder.refuse(in, "solve launches into a stream of its own", "leave the stream out: launches run in order");
  }
  const vgpu::Buffer* buffer = builder.memory.find(address);
  KernelLaunch launch = std::move(it->second);
  builder.open_launches.erase(it);
  ROOFWALK_TRY_STATUS(add_launch(builder, in, std::move(launch), *buffer));
  return vgpu::CallAnswer{};
}

// Refuses a memset or copy whose address is in constant memory or in a table of SOLVE's. Constants must keep the values
// from the source, because a device's constant caches would not see a write to constant memory.
Status refuse_constants(const PlanBuilder& builder, const ptx::Instruction& in, std::uint64_t address,
                        const char* verb) {
  const auto behind = builder.constants.upper_bound(address);
  std::string what = "constant memory";
  if (behind != builder.constants.begin()) {
    const auto& [number, name] = *std::prev(behind);
    if (address - number < kMostConstantBytes)
      what = fmt::format("`{}`, a __constant__ variable", vgpu::display_name(name));
  }
  if (const vgpu::Buffer* table = table_at(builder, address))
    what = fmt::format("`{}`, a table that no kernel writes", table->name);
  if (what == "constant memory" && !vgpu::Memory::is_constant(address)) return kOk;
  return builder.refuse(in, fmt::format("solve {} {}", verb, what),
                        "such a variable holds what it is compiled with, and kernels read it by its name; pass data to "
                        "them through pointers");
}

Result<vgpu::CallAnswer> memset_async(PlanBuilder& builder, const ptx::Instruction& in,
                                      const CallArguments& arguments) {
  const MemsetStep step{argument<std::uint64_t>(arguments, 0),
                        static_cast<std::uint8_t>(argument<std::uint32_t>(arguments, 1)),
                        argument<std::uint64_t>(arguments, 2), builder.line_of(in)};
  ROOFWALK_TRY_STATUS(refuse_constants(builder, in, step.address, "sets"));
  if (step.size_bytes != 0) ROOFWALK_TRY_STATUS(add_step(builder, in, step));  // an empty memset is not a step
  return vgpu::CallAnswer{};
}

Result<vgpu::CallAnswer> memcpy_async(PlanBuilder& builder, const ptx::Instruction& in,
                                      const CallArguments& arguments) {
  const auto kind = argument<std::uint32_t>(arguments, 3);
  if (kind != 3 && kind != 4) {  // cudaMemcpyDeviceToDevice, cudaMemcpyDefault
    return builder.refuse(in, "solve copies from or to the host",
                          "all of solve's pointers are device memory: use cudaMemcpyDeviceToDevice");
  }
  const CopyStep step{argument<std::uint64_t>(arguments, 0), argument<std::uint64_t>(arguments, 1),
                      argument<std::uint64_t>(arguments, 2), builder.line_of(in)};
  ROOFWALK_TRY_STATUS(refuse_constants(builder, in, step.destination, "copies to"));
  ROOFWALK_TRY_STATUS(refuse_constants(builder, in, step.source, "copies from"));
  if (step.size_bytes != 0) ROOFWALK_TRY_STATUS(add_step(builder, in, step));
  return vgpu::CallAnswer{};
}

Result<vgpu::CallAnswer> scratch(PlanBuilder& builder, const ptx::Instruction& in, const CallArguments& arguments) {
  const auto bytes = argument<std::uint64_t>(arguments, 0);
  if (bytes == 0) return builder.refuse(in, "solve asks for zero bytes of scratch memory");
  if (bytes > builder.limits.max_scratch_bytes || builder.scratch_bytes > builder.limits.max_scratch_bytes - bytes) {
    return builder.refuse(in, fmt::format("solve asks for {} bytes of scratch memory; all of it together may be {}",
                                          bytes, builder.limits.max_scratch_bytes));
  }
  if (builder.scratch_buffers == builder.limits.max_scratch_buffers) {
    return builder.refuse(
        in, fmt::format("solve asks for more than {} buffers of scratch memory", builder.limits.max_scratch_buffers));
  }
  auto address = builder.allocate_scratch(bytes);
  if (!address) return builder.refuse(in, address.error().message);
  builder.scratch_bytes += bytes;
  ++builder.scratch_buffers;
  return vgpu::CallAnswer{*address};
}

Result<vgpu::CallAnswer> success(PlanBuilder&, const ptx::Instruction&, const CallArguments&) {
  return vgpu::CallAnswer{};
}

constexpr std::array kExterns{
    Extern{"__cudaCDP2GetParameterBufferV2", get_parameter_buffer},
    Extern{"__cudaCDP2LaunchDeviceV2", launch_device},
    Extern{"__cudaCDP2MemsetAsync", memset_async},
    Extern{"__cudaCDP2MemcpyAsync", memcpy_async},
    Extern{"__cudaCDP2GetLastError", success},
    Extern{"__cudaCDP2PeekAtLastError", success},
    Extern{"roofwalk_scratch", scratch},
};

const Extern* find_extern(std::string_view name) {
  for (const Extern& known : kExterns) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace

Result<KernelLaunch> checked_launch(const PlanBuilder& builder, const ptx::Instruction& in, std::uint64_t number,
                                    const Dim3& grid, const Dim3& block, std::uint32_t dynamic_shared_bytes) {
  const auto kernel = builder.kernels.find(number);
  if (kernel == builder.kernels.end())
    return builder.refuse(in, "solve launches something that is not a kernel of this file");
  KernelLaunch launch{.kernel = kernel->second,
                      .grid = grid,
                      .block = block,
                      .dynamic_shared_bytes = dynamic_shared_bytes,
                      .arguments = {},
                      .line = builder.line_of(in)};
  const std::string name = vgpu::display_name(launch.kernel);
  if (launch.grid.count() == 0) {
    return builder.refuse(in,
                          fmt::format("solve launches zero blocks of {} (grid {} x {} x {})", name, launch.grid.x,
                                      launch.grid.y, launch.grid.z),
                          "round the number of blocks up: ceil_div(n, threads)");
  }
  if (launch.block.count() == 0)
    return builder.refuse(in, fmt::format("solve launches {} with zero threads a block", name));
  if (launch.grid.x > kMaxGridX || launch.grid.y > kMaxGridYZ || launch.grid.z > kMaxGridYZ) {
    return builder.refuse(
        in, fmt::format("the grid of {} is too large: {} x {} x {}", name, launch.grid.x, launch.grid.y, launch.grid.z),
        "at most 2147483647 x 65535 x 65535 blocks");
  }
  if (launch.block.count() > kMaxBlockThreads || launch.block.z > kMaxBlockZ) {
    return builder.refuse(in, fmt::format("{} is launched with {} threads a block", name, launch.block.count()),
                          "at most 1024 threads a block, 64 in z");
  }
  const ptx::Function* function = builder.module.find_function(launch.kernel);
  if (const Error* why = ptx::why_unsupported(builder.module, *function)) {
    Error error = *why;
    error.file = builder.source_path;
    return error;
  }
  const int* most = function->max_threads;
  if (most[0] > 0 &&
      launch.block.count() > static_cast<std::uint64_t>(most[0]) * std::max(most[1], 1) * std::max(most[2], 1)) {
    return builder.refuse(in, fmt::format("{} is launched with {} threads a block, more than its __launch_bounds__",
                                          name, launch.block.count()));
  }
  launch.arguments.resize(vgpu::parameter_layout(*function).size_bytes);
  return launch;
}

Result<const vgpu::Buffer*> argument_buffer(PlanBuilder& builder, std::uint32_t size_bytes) {
  auto id = builder.memory.allocate("launch arguments", std::max(size_bytes, 1u), 1, vgpu::Memory::Region::arguments);
  if (!id) return id.error();
  const vgpu::Buffer& memory = builder.memory.buffer(*id);
  std::memset(memory.data, kUnset, memory.size_bytes);
  return &memory;
}

Status add_launch(PlanBuilder& builder, const ptx::Instruction& in, KernelLaunch launch,
                  const vgpu::Buffer& arguments) {
  std::copy_n(arguments.data, launch.arguments.size(), launch.arguments.begin());
  builder.memory.release(arguments.id);
  ROOFWALK_TRY_STATUS(refuse_tables(builder, in, launch));
  return add_step(builder, in, std::move(launch));
}

Result<vgpu::CallAnswer> answer_call(PlanBuilder& builder, const ptx::Instruction& call,
                                     const CallArguments& arguments) {
  const std::string& name = call.operands[0].symbol;
  const Extern* of_library = find_library_extern(name);
  const bool may_call = builder.may_call_libraries || is_question(name);
  if (of_library != nullptr && builder.machine != nullptr && may_call)
    return of_library->handler(builder, call, arguments);
  if (const Extern* known = find_extern(name)) return known->handler(builder, call, arguments);
  Error error = check_extern(name).error();
  if (of_library != nullptr) {
    error.advice =
        "SOLVE launches this file's own kernels; device-wide algorithms of a library (cub::DeviceReduce) "
        "call this to launch theirs. Their parts that run within a kernel (cub::BlockReduce) may be used";
  }
  return builder.refuse(call, std::move(error.message), std::move(error.advice));
}

Status check_extern(const std::string& name) {
  if (find_extern(name) != nullptr) return kOk;
  if (name == "vprintf")
    return Error{.message = "solve cannot print", .advice = "solve only plans launches; remove the printf"};
  if (name == "__cudaCDP2Malloc" || name == "malloc") {
    return Error{.message = "solve cannot allocate with cudaMalloc or malloc", .advice = "use scratch<T>(count)"};
  }
  if (name.starts_with(kRuntime)) {
    return Error{.message = fmt::format("solve cannot call cuda{}", name.substr(kRuntime.size())),
                 .advice = "solve may launch kernels, cudaMemsetAsync, cudaMemcpyAsync and ask for scratch<T>(count)"};
  }
  return Error{
      .message = fmt::format("solve calls `{}`, which is defined nowhere in this file", vgpu::display_name(name)),
      .advice = "solve may launch kernels, cudaMemsetAsync, cudaMemcpyAsync and ask for scratch<T>(count)"};
}

}  // namespace roofwalk
