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

using Handler = Result<std::uint64_t> (*)(PlanBuilder&, const ptx::Instruction&, const CallArguments&);

constexpr std::uint8_t kUnset = 0xa5;  // value of a parameter byte before the plan stores it
constexpr std::uint64_t kMaxGridX = 0x7fff'ffff, kMaxGridYZ = 65535;  // CUDA programming guide, compute capabilities
constexpr std::uint64_t kMaxBlockThreads = 1024, kMaxBlockZ = 64;
constexpr std::uint64_t kMostConstantBytes = 1 << 16;

template <class T>
T argument(const CallArguments& arguments, std::size_t index, std::size_t offset = 0) {
  T value{};
  if (index < arguments.size() && offset + sizeof value <= arguments[index].size()) {
    std::memcpy(&value, arguments[index].data() + offset, sizeof value);
  }
  return value;
}

Dim3 dimensions(const CallArguments& arguments, std::size_t index) {
  return {argument<std::uint32_t>(arguments, index, 0), argument<std::uint32_t>(arguments, index, 4),
          argument<std::uint32_t>(arguments, index, 8)};
}

Status add_step(PlanBuilder& builder, const ptx::Instruction& in, PlanStep step) {
  if (builder.plan.steps.size() >= builder.limits.max_steps) {
    return builder.refuse(
        in, fmt::format("solve launches more than {} kernels, memsets and copies", builder.limits.max_steps),
        "do the loop inside a kernel");
  }
  builder.plan.steps.push_back(std::move(step));
  return kOk;
}

Result<std::uint64_t> get_parameter_buffer(PlanBuilder& builder, const ptx::Instruction& in,
                                           const CallArguments& arguments) {
  KernelLaunch launch;
  const auto kernel = builder.kernels.find(argument<std::uint64_t>(arguments, 0));
  if (kernel == builder.kernels.end())
    return builder.refuse(in, "solve launches something that is not a kernel of this file");
  launch.kernel = kernel->second;
  launch.grid = dimensions(arguments, 1);
  launch.block = dimensions(arguments, 2);
  launch.dynamic_shared_bytes = argument<std::uint32_t>(arguments, 3);
  launch.line = builder.line_of(in);
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
  constexpr std::size_t kMaxOpenLaunches = 16;
  if (builder.open_launches.size() >= kMaxOpenLaunches) {
    return builder.refuse(in, "solve asks for launch arguments again and again without launching");
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
  const std::uint32_t size_bytes = vgpu::parameter_layout(*function).size_bytes;
  auto buffer =
      builder.memory.allocate("launch arguments", std::max(size_bytes, 1u), 1, vgpu::Memory::Region::arguments);
  if (!buffer) return buffer.error();
  const vgpu::Buffer& memory = builder.memory.buffer(*buffer);
  std::memset(memory.data, kUnset, memory.size_bytes);
  launch.arguments.resize(size_bytes);
  builder.open_launches[memory.address] = std::move(launch);
  return memory.address;
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

Result<std::uint64_t> launch_device(PlanBuilder& builder, const ptx::Instruction& in, const CallArguments& arguments) {
  const auto address = argument<std::uint64_t>(arguments, 0);
  const auto it = builder.open_launches.find(address);
  if (it == builder.open_launches.end())
    return builder.refuse(in, "solve launches with an argument buffer that it did not ask for");
  if (argument<std::uint64_t>(arguments, 1) != 0) {
    return builder.refuse(in, "solve launches into a stream of its own", "leave the stream out: launches run in order");
  }
  const vgpu::Buffer* buffer = builder.memory.find(address);
  std::copy_n(buffer->data, it->second.arguments.size(), it->second.arguments.begin());
  builder.memory.release(buffer->id);
  KernelLaunch launch = std::move(it->second);
  builder.open_launches.erase(it);
  ROOFWALK_TRY_STATUS(refuse_tables(builder, in, launch));
  ROOFWALK_TRY_STATUS(add_step(builder, in, std::move(launch)));
  return std::uint64_t{0};
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

Result<std::uint64_t> memset_async(PlanBuilder& builder, const ptx::Instruction& in, const CallArguments& arguments) {
  const MemsetStep step{argument<std::uint64_t>(arguments, 0),
                        static_cast<std::uint8_t>(argument<std::uint32_t>(arguments, 1)),
                        argument<std::uint64_t>(arguments, 2), builder.line_of(in)};
  ROOFWALK_TRY_STATUS(refuse_constants(builder, in, step.address, "sets"));
  if (step.size_bytes != 0) ROOFWALK_TRY_STATUS(add_step(builder, in, step));  // an empty memset is not a step
  return std::uint64_t{0};
}

Result<std::uint64_t> memcpy_async(PlanBuilder& builder, const ptx::Instruction& in, const CallArguments& arguments) {
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
  return std::uint64_t{0};
}

Result<std::uint64_t> scratch(PlanBuilder& builder, const ptx::Instruction& in, const CallArguments& arguments) {
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
  return *address;
}

Result<std::uint64_t> success(PlanBuilder&, const ptx::Instruction&, const CallArguments&) { return std::uint64_t{0}; }

struct Extern {
  std::string_view name;
  Handler handler;
};

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

Result<std::uint64_t> answer_call(PlanBuilder& builder, const ptx::Instruction& call, const CallArguments& arguments) {
  const std::string& name = call.operands[0].symbol;
  const Extern* known = find_extern(name);
  if (known == nullptr) {
    Error error = check_extern(name).error();
    return builder.refuse(call, std::move(error.message), std::move(error.advice));
  }
  return known->handler(builder, call, arguments);
}

Status check_extern(const std::string& name) {
  if (find_extern(name) != nullptr) return kOk;
  constexpr std::string_view kRuntime = "__cudaCDP2";
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
