// What a library's device-wide algorithm calls in SOLVE. It asks for the machine, which SOLVE itself may do, too, and
// it launches in CUDA's older way: first it fills a buffer with the arguments, then it names the kernel.
#include <array>

#include <fmt/format.h>

#include "common/plan/externs.h"
#include "common/vgpu/timing/occupancy.h"

namespace roofwalk {
namespace {

constexpr std::uint64_t kMostArgumentBytes = 4096;
constexpr std::uint32_t kMostGridX = 0x7fff'ffff, kMostBlockThreads = 1024;

vgpu::CallAnswer stored(std::uint64_t address, std::uint32_t value) {
  return {.result = 0, .store = vgpu::CallAnswer::Store{address, value}};
}

Result<vgpu::CallAnswer> get_device(PlanBuilder&, const ptx::Instruction&, const CallArguments& arguments) {
  return stored(argument<std::uint64_t>(arguments, 0), 0);
}

Result<vgpu::CallAnswer> device_attribute(PlanBuilder& builder, const ptx::Instruction& in,
                                          const CallArguments& arguments) {
  const int capability = builder.machine->compute_capability;
  std::uint32_t value = 0;
  switch (const auto attribute = argument<std::uint32_t>(arguments, 1)) {
    case 1:  // cudaDevAttrMaxThreadsPerBlock
      value = kMostBlockThreads;
      break;
    case 5:  // cudaDevAttrMaxGridDimX
      value = kMostGridX;
      break;
    case 10:  // cudaDevAttrWarpSize
      value = vgpu::kWarpSize;
      break;
    case 16:  // cudaDevAttrMultiProcessorCount
      value = static_cast<std::uint32_t>(builder.machine->sms);
      break;
    case 39:  // cudaDevAttrMaxThreadsPerMultiProcessor
      value = static_cast<std::uint32_t>(builder.machine->max_threads_per_sm);
      break;
    case 75:  // cudaDevAttrComputeCapabilityMajor
      value = static_cast<std::uint32_t>(capability / 10);
      break;
    case 76:  // cudaDevAttrComputeCapabilityMinor
      value = static_cast<std::uint32_t>(capability % 10);
      break;
    default:
      return builder.refuse(in,
                            fmt::format("solve asks for attribute {} of the device, which no plan knows", attribute));
  }
  return stored(argument<std::uint64_t>(arguments, 0), value);
}

// How many blocks of a kernel fit on an SM at once.
Result<vgpu::CallAnswer> blocks_per_sm(PlanBuilder& builder, const ptx::Instruction& in,
                                       const CallArguments& arguments) {
  const auto kernel = builder.kernels.find(argument<std::uint64_t>(arguments, 1));
  if (kernel == builder.kernels.end())
    return builder.refuse(in, "solve asks how many blocks fit of something that is not a kernel of this file");
  vgpu::BlockNeeds needs{.threads = argument<std::uint32_t>(arguments, 2),
                         .shared_bytes = static_cast<std::uint32_t>(argument<std::uint64_t>(arguments, 3))};
  for (const KernelResources& resources : builder.resources) {
    if (resources.name != kernel->second) continue;
    needs.registers_per_thread = resources.registers_per_thread;
    needs.shared_bytes += static_cast<std::uint32_t>(resources.static_shared_bytes);
  }
  const auto fit = vgpu::occupancy_of(*builder.machine, needs);
  return stored(argument<std::uint64_t>(arguments, 0), fit ? static_cast<std::uint32_t>(fit->blocks_per_sm) : 0);
}

Result<vgpu::CallAnswer> library_buffer(PlanBuilder& builder, const ptx::Instruction& in,
                                        const CallArguments& arguments) {
  const auto size_bytes = argument<std::uint64_t>(arguments, 1);
  constexpr std::size_t kMostOpen = 16;
  if (size_bytes > kMostArgumentBytes || builder.library_arguments.size() >= kMostOpen)
    return builder.refuse(in, "solve asks for too much memory for launch arguments");
  ROOFWALK_TRY(const vgpu::Buffer* buffer, argument_buffer(builder, static_cast<std::uint32_t>(size_bytes)));
  builder.library_arguments[buffer->address] = buffer->id;
  return vgpu::CallAnswer{.result = buffer->address};
}

Result<vgpu::CallAnswer> library_launch(PlanBuilder& builder, const ptx::Instruction& in,
                                        const CallArguments& arguments) {
  const auto buffer = builder.library_arguments.find(argument<std::uint64_t>(arguments, 1));
  if (buffer == builder.library_arguments.end())
    return builder.refuse(in, "solve launches with an argument buffer that it did not ask for");
  if (argument<std::uint64_t>(arguments, 5) != 0)
    return builder.refuse(in, "solve launches into a stream of its own", "leave the stream out: launches run in order");
  ROOFWALK_TRY(KernelLaunch launch,
               checked_launch(builder, in, argument<std::uint64_t>(arguments, 0), dimensions(arguments, 2),
                              dimensions(arguments, 3), argument<std::uint32_t>(arguments, 4)));
  const vgpu::Buffer& filled = builder.memory.buffer(buffer->second);
  if (filled.size_bytes < launch.arguments.size())
    return builder.refuse(in, "solve launches a kernel with fewer arguments than it has parameters");
  builder.library_arguments.erase(buffer);
  ROOFWALK_TRY_STATUS(add_launch(builder, in, std::move(launch), filled));
  return vgpu::CallAnswer{};
}

constexpr std::array kLibraryExterns{
    Extern{"__cudaCDP2GetDevice", get_device},
    Extern{"__cudaCDP2DeviceGetAttribute", device_attribute},
    Extern{"__cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor", blocks_per_sm},
    Extern{"__cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks_per_sm},
    Extern{"__cudaCDP2GetParameterBuffer", library_buffer},
    Extern{"__cudaCDP2LaunchDevice", library_launch},
};

}  // namespace

bool is_question(std::string_view name) {
  const Extern* of_library = find_library_extern(name);
  return of_library != nullptr && of_library->handler != library_buffer && of_library->handler != library_launch;
}

const Extern* find_library_extern(std::string_view name) {
  for (const Extern& known : kLibraryExterns) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace roofwalk
