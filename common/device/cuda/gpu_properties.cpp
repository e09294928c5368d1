#include "common/device/cuda/gpu_properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/device/cuda/cuda_errors.h"

namespace roofwalk {
namespace {

std::string text_of(const CUuuid& uuid, bool is_slice) {
  std::string text = is_slice ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

// The architectures for which nvcc 13.0 compiles (`nvcc --list-gpu-arch`). Any other chip runs PTX for the newest one
// of these that is older than the chip.
constexpr std::array kArchitectures{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

int architecture_for(int compute_capability) {
  int best = kArchitectures.front();
  for (const int known : kArchitectures) {
    if (known <= compute_capability) best = known;
  }
  return best;
}

// Returns the FP32 lanes per SM, from helper_cuda.h in NVIDIA's CUDA samples; 0: not known.
int fp32_lanes_of(int compute_capability) {
  if (compute_capability == 75 || compute_capability == 80) return 64;
  return compute_capability >= 86 && compute_capability <= 121 ? 128 : 0;
}

// Returns the combined size of L1 and shared memory per SM; 0: not known. Source: the CUDA programming guide, "Compute
// Capabilities", the shared memory section of each.
int unified_cache_bytes_of(int compute_capability) {
  switch (compute_capability) {
    case 75:
      return 96 << 10;
    case 80:
    case 87:
      return 192 << 10;
    case 86:
    case 89:
    case 120:
      return 128 << 10;
    case 90:
    case 100:
      return 256 << 10;
    default:
      return 0;
  }
}

}  // namespace

Result<GpuProperties> query_gpu(const DriverApi& api, int ordinal) {
  int count = 0;
  if (const CUresult code = api.cuDeviceGetCount(&count); code != CUDA_SUCCESS) {
    return cuda_error(api, code, "count the GPUs");
  }
  if (ordinal < 0 || ordinal >= count) {
    return Error{.message = count == 0 ? "the driver sees no GPU"
                                       : fmt::format("there is no GPU {}: the driver sees {}", ordinal, count),
                 .advice =
                     "`nvidia-smi -L` lists them; CUDA_VISIBLE_DEVICES may hide some, and with MIG on a slice must "
                     "have been made"};
  }
  CUresult worst = CUDA_SUCCESS;
  const auto check = [&worst](CUresult code) {
    if (worst == CUDA_SUCCESS) worst = code;
  };
  CUdevice device = 0;
  check(api.cuDeviceGet(&device, ordinal));
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    check(api.cuDeviceGetAttribute(&value, which, device));
    return value;
  };
  GpuProperties gpu;
  gpu.ordinal = ordinal;
  std::array<char, 256> name{};
  check(api.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device));
  gpu.name = name.data();
  CUuuid uuid{};
  check(api.cuDeviceGetUuid(&uuid, device));
  gpu.uuid = text_of(uuid, gpu.name.find(" MIG ") != std::string::npos);
  check(api.cuDriverGetVersion(&gpu.driver_version));
  std::size_t memory_bytes = 0;
  check(api.cuDeviceTotalMem(&memory_bytes, device));
  gpu.memory_bytes = static_cast<std::int64_t>(memory_bytes);
  gpu.compute_capability = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  gpu.sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  gpu.clock_hz = 1e3 * attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);  // the driver reports kHz
  gpu.memory_clock_hz = 1e3 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  gpu.memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  gpu.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  gpu.persisting_l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  gpu.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  gpu.max_blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  gpu.max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  gpu.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  gpu.shared_bytes_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  gpu.max_shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  gpu.reserved_shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  gpu.ends_long_kernels = attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) != 0;
  gpu.reaches_host_memory = attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
  gpu.is_integrated = attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
  if (worst != CUDA_SUCCESS) return cuda_error(api, worst, fmt::format("ask the driver about GPU {}", ordinal));
  if (gpu.compute_capability < kArchitectures.front()) {
    return Error{.message = fmt::format("{} is of compute capability {}.{}, and CUDA 13 begins with 7.5", gpu.name,
                                        gpu.compute_capability / 10, gpu.compute_capability % 10),
                 .advice = "take another GPU, or `--device virtual`"};
  }
  return gpu;
}

Machine machine_of(const GpuProperties& gpu) {
  for (const std::string& known : machine_names()) {
    auto machine = load_machine(known);
    if (!machine || machine->driver_name != gpu.name || machine->sms != gpu.sms ||
        machine->compute_capability != gpu.compute_capability) {
      continue;
    }
    machine->memory_bytes = gpu.memory_bytes;
    return *std::move(machine);
  }
  Machine machine;
  for (const char c : gpu.name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) machine.name += static_cast<char>(std::tolower(byte));
    if (std::isalnum(byte) == 0 && !machine.name.empty() && machine.name.back() != '-') machine.name += '-';
  }
  if (!machine.name.empty() && machine.name.back() == '-') machine.name.pop_back();
  machine.driver_name = gpu.name;
  machine.title = fmt::format("{}, compute capability {}.{}, as its driver describes it", gpu.name,
                              gpu.compute_capability / 10, gpu.compute_capability % 10);
  machine.compute_capability = gpu.compute_capability;
  machine.arch = fmt::format("compute_{}", architecture_for(gpu.compute_capability));
  machine.sms = gpu.sms;
  machine.clock_hz = gpu.clock_hz;
  machine.max_threads_per_sm = gpu.max_threads_per_sm;
  machine.max_blocks_per_sm = gpu.max_blocks_per_sm;
  machine.max_threads_per_block = gpu.max_threads_per_block;
  machine.registers_per_sm = gpu.registers_per_sm;
  machine.shared_bytes_per_sm = gpu.shared_bytes_per_sm;
  machine.max_shared_bytes_per_block = gpu.max_shared_bytes_per_block;
  machine.reserved_shared_bytes_per_block = gpu.reserved_shared_bytes_per_block;
  machine.memory_bytes = gpu.memory_bytes;
  machine.l2_bytes = gpu.l2_bytes;
  machine.l1_bytes = machine.l1_shared_bytes = unified_cache_bytes_of(gpu.compute_capability);
  machine.schedulers_per_sm = 4;  // on every chip since Volta: CUDA programming guide 13.0, compute capabilities
  machine.fp32_lanes_per_sm = fp32_lanes_of(gpu.compute_capability);
  // Two transfers per reported memory clock.
  if (!gpu.is_integrated) machine.dram_bytes_per_s = 2 * gpu.memory_clock_hz * gpu.memory_bus_bits / 8;
  return machine;
}

}  // namespace roofwalk
