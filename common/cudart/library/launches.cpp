// What nvcc's code on the host calls: registering fat binaries, kernels and variables, and launching.
#include <algorithm>
#include <cstring>

#include "common/cudart/library/graphs.h"
#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace {

// What nvcc puts into a program for each fat binary. Of a linked program, `files` ends with a null pointer.
struct FatBinaryWrapper {
  std::int32_t magic, version;
  const char* data;
  const char* const* files;
};
constexpr std::int32_t kLinked = 2;  // the version

thread_local std::vector<CallConfiguration> configurations;

HostModule* module_of(void** handle) { return reinterpret_cast<HostModule*>(handle); }

// What is sent to launch the kernel.
cudaError_t message_of(const HostKernel& kernel, const CallConfiguration& how, void** arguments, std::string& payload) {
  const std::size_t shared_bytes = kernel.figures.static_shared_bytes + how.shared_bytes;
  if (shared_bytes > kPlainSharedBytes && how.shared_bytes > static_cast<std::size_t>(kernel.opted_dynamic_bytes))
    return cudaErrorInvalidValue;
  Launch asked;
  asked.kernel = kernel.figures.kernel;
  const unsigned grid[] = {how.grid.x, how.grid.y, how.grid.z}, block[] = {how.block.x, how.block.y, how.block.z};
  std::copy_n(grid, 3, asked.grid);
  std::copy_n(block, 3, asked.block);
  asked.dynamic_shared_bytes = static_cast<std::uint32_t>(how.shared_bytes);
  asked.is_cooperative = how.is_cooperative ? 1 : 0;
  payload = bytes_of(asked);
  payload.resize(sizeof asked + kernel.figures.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ParameterPlace& place = kernel.parameters[i];
    std::memcpy(payload.data() + sizeof asked + place.offset_bytes, arguments[i], place.size_bytes);
  }
  return cudaSuccess;
}

cudaError_t message_of(const void* stub, const CallConfiguration& how, void** arguments, std::string& payload) {
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  HostKernel* const kernel = find_kernel(stub);
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t error = load(*kernel); error != cudaSuccess) return error;
  if (!is_stream(how.stream)) return cudaErrorInvalidResourceHandle;
  if (arguments == nullptr && !kernel->parameters.empty()) return cudaErrorInvalidValue;
  return message_of(*kernel, how, arguments, payload);
}

cudaError_t launch(const void* stub, const CallConfiguration& how, void** arguments) {
  const Lock lock(runtime().mutex);
  std::string payload;
  if (const cudaError_t error = message_of(stub, how, arguments, payload); error != cudaSuccess) return error;
  if (!captures(how.stream)) return ask_to_run(Call::launch, payload);
  return capture(how.stream, cudaGraphNodeTypeKernel, [payload] { return ask_to_run(Call::launch, payload); });
}

}  // namespace

namespace roofwalk::cudart {

cudaError_t work_of_launch(const void* stub, const CallConfiguration& how, void** arguments, Work& work) {
  std::string payload;
  const cudaError_t error = message_of(stub, how, arguments, payload);
  if (error == cudaSuccess) work = [payload] { return ask_to_run(Call::launch, payload); };
  return error;
}

}  // namespace roofwalk::cudart

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  const Lock lock(runtime().mutex);
  auto module = std::make_unique<HostModule>();
  const auto& found = *static_cast<const FatBinaryWrapper*>(wrapper);
  module->fat_binaries.push_back(found.data);
  if (found.version == kLinked && found.files != nullptr) {
    for (const char* const* file = found.files; *file != nullptr; ++file) module->fat_binaries.push_back(*file);
  }
  runtime().modules.push_back(std::move(module));
  return reinterpret_cast<void**>(runtime().modules.back().get());
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

// Before the host touches a managed variable.
char __cudaInitModule(void** handle) {
  const Lock lock(runtime().mutex);
  if (ready() != cudaSuccess) return 0;
  for (const auto& [shadow, variable] : runtime().variables) {
    if (variable->module == module_of(handle) && variable->managed != nullptr) result(load(*variable));
  }
  return 1;
}

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, void*, void*, void*, void*,
                            int*) {
  const Lock lock(runtime().mutex);
  auto kernel = std::make_unique<HostKernel>();
  kernel->module = module_of(handle);
  kernel->name = name;
  runtime().handles.insert(kernel.get());
  runtime().kernels[stub] = std::move(kernel);
}

void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, std::size_t size_bytes, int, int) {
  const Lock lock(runtime().mutex);
  auto variable = std::make_unique<HostVariable>();
  variable->module = module_of(handle);
  variable->name = name;
  variable->size_bytes = size_bytes;
  runtime().variables[shadow] = std::move(variable);
}

void __cudaRegisterManagedVar(void** handle, void** pointer, char* shadow, const char* name, int extern_,
                              std::size_t size_bytes, int constant, int global) {
  const Lock lock(runtime().mutex);
  auto* const key = reinterpret_cast<char*>(pointer);
  __cudaRegisterVar(handle, key, shadow, name, extern_, size_bytes, constant, global);
  runtime().variables[key]->managed = pointer;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  if (configurations.empty()) return cudaErrorMissingConfiguration;
  const CallConfiguration how = configurations.back();
  configurations.pop_back();
  *grid = how.grid;
  *block = how.block;
  *shared_bytes = how.shared_bytes;
  std::memcpy(stream, &how.stream, sizeof how.stream);
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) { return cudaGetKernel(handle, stub); }

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  const Lock lock(runtime().mutex);
  HostKernel* const kernel = find_kernel(stub);
  *handle = reinterpret_cast<cudaKernel_t>(kernel);
  return kernel != nullptr ? cudaSuccess : result(cudaErrorInvalidDeviceFunction);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                               cudaStream_t stream) {
  return result(launch(kernel, {grid, block, shared_bytes, stream}, arguments));
}

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                             cudaStream_t stream) {
  return result(launch(stub, {grid, block, shared_bytes, stream}, arguments));
}

cudaError_t cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream) {
  return result(launch(stub, {grid, block, shared_bytes, stream, /*is_cooperative=*/true}, arguments));
}

// Attributes that tell how a launch may overlap with others, or what caches keep, change nothing here.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* stub, void** arguments) {
  if (how == nullptr || (how->attrs == nullptr && how->numAttrs > 0)) return result(cudaErrorInvalidValue);
  CallConfiguration launched{how->gridDim, how->blockDim, how->dynamicSmemBytes, how->stream};
  for (unsigned i = 0; i < how->numAttrs; ++i) {
    const cudaLaunchAttribute& each = how->attrs[i];
    if (each.id == cudaLaunchAttributeCooperative) launched.is_cooperative = each.val.cooperative != 0;
    const auto& cluster = each.val.clusterDim;
    if (each.id == cudaLaunchAttributeClusterDimension && (cluster.x != 1 || cluster.y != 1 || cluster.z != 1))
      return not_served("cudaLaunchKernelExC with cudaLaunchAttributeClusterDimension");
  }
  return result(launch(stub, launched, arguments));
}

ROOFWALK_PER_THREAD(__cudaLaunchKernel, __cudaLaunchKernel_ptsz)
ROOFWALK_PER_THREAD(cudaLaunchKernel, cudaLaunchKernel_ptsz)
ROOFWALK_PER_THREAD(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz)
ROOFWALK_PER_THREAD(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz)

}  // extern "C"
