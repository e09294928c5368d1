// The device, what it can do, and how many blocks of a kernel it holds at once.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace {

constexpr int kVersion = 13000;  // of the runtime, and of the driver that it stands for
constexpr int kWarpThreads = 32, kMostGridX = 0x7fffffff, kMostGridYz = 65535, kMostBlockXy = 1024, kMostBlockZ = 64;
constexpr std::size_t kConstantBytes = 64 << 10;
constexpr std::size_t kMostPitchBytes = 0x7fffffff, kTextureAlignBytes = 512, kTexturePitchAlignBytes = 32;

unsigned device_flags = cudaDeviceScheduleAuto;

cudaError_t ready_on(int device) {
  const cudaError_t error = ready();
  if (error != cudaSuccess) return error;
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

void copy3(const int (&from)[3], int* to) { std::copy_n(from, 3, to); }

void fill_in(const DeviceFigures& from, cudaDeviceProp& to) {
  to = {};
  std::memcpy(to.name, from.name, sizeof to.name);
  to.totalGlobalMem = static_cast<std::size_t>(from.memory_bytes);
  to.sharedMemPerBlock = kPlainSharedBytes;
  to.regsPerBlock = to.regsPerMultiprocessor = from.registers_per_sm;
  to.warpSize = kWarpThreads;
  to.memPitch = kMostPitchBytes;
  to.maxThreadsPerBlock = from.max_threads_per_block;
  copy3({kMostBlockXy, kMostBlockXy, kMostBlockZ}, to.maxThreadsDim);
  copy3({kMostGridX, kMostGridYz, kMostGridYz}, to.maxGridSize);
  to.totalConstMem = kConstantBytes;
  to.major = from.compute_capability / 10;
  to.minor = from.compute_capability % 10;
  to.textureAlignment = kTextureAlignBytes;
  to.texturePitchAlignment = kTexturePitchAlignBytes;
  to.multiProcessorCount = from.sms;
  to.canMapHostMemory = to.unifiedAddressing = to.managedMemory = to.concurrentManagedAccess = 1;
  to.concurrentKernels = to.asyncEngineCount = to.streamPrioritiesSupported = 1;
  to.cooperativeLaunch = to.memoryPoolsSupported = to.hostRegisterSupported = 1;
  to.globalL1CacheSupported = to.localL1CacheSupported = 1;
  to.l2CacheSize = static_cast<int>(from.l2_bytes);
  to.maxThreadsPerMultiProcessor = from.max_threads_per_sm;
  to.sharedMemPerMultiprocessor = static_cast<std::size_t>(from.shared_bytes_per_sm);
  to.sharedMemPerBlockOptin = static_cast<std::size_t>(from.max_shared_bytes_per_block);
  to.reservedSharedMemPerBlock = static_cast<std::size_t>(from.reserved_shared_bytes_per_block);
  to.maxBlocksPerMultiProcessor = from.max_blocks_per_sm;
}

// An attribute that the virtual GPU does not have is 0: not supported.
int attribute_of(const DeviceFigures& from, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return from.max_threads_per_block;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return kMostBlockXy;
    case cudaDevAttrMaxBlockDimZ:
      return kMostBlockZ;
    case cudaDevAttrMaxGridDimX:
      return kMostGridX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMostGridYz;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kPlainSharedBytes;
    case cudaDevAttrTotalConstantMemory:
      return kConstantBytes;
    case cudaDevAttrWarpSize:
      return kWarpThreads;
    case cudaDevAttrMaxPitch:
      return kMostPitchBytes;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return from.registers_per_sm;
    case cudaDevAttrClockRate:
      return from.clock_khz;
    case cudaDevAttrTextureAlignment:
      return kTextureAlignBytes;
    case cudaDevAttrTexturePitchAlignment:
      return kTexturePitchAlignBytes;
    case cudaDevAttrMultiProcessorCount:
      return from.sms;
    case cudaDevAttrL2CacheSize:
      return static_cast<int>(from.l2_bytes);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return from.max_threads_per_sm;
    case cudaDevAttrComputeCapabilityMajor:
      return from.compute_capability / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return from.compute_capability % 10;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return from.shared_bytes_per_sm;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return from.max_shared_bytes_per_block;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return from.reserved_shared_bytes_per_block;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return from.max_blocks_per_sm;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
      return 1;
    default:
      return 0;
  }
}

cudaError_t find_loaded(const void* stub, HostKernel*& kernel) {
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  kernel = find_kernel(stub);
  return kernel == nullptr ? cudaErrorInvalidDeviceFunction : load(*kernel);
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* out) {
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = kVersion;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* out) { return cudaRuntimeGetVersion(out); }

cudaError_t cudaGetDeviceCount(int* out) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  const cudaError_t error = ready();
  *out = error == cudaErrorNoDevice ? 0 : 1;
  return result(error);
}
cudaError_t cudaGetDevice(int* out) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = 0;
  return result(ready());
}
cudaError_t cudaSetDevice(int device) {
  const Lock lock(runtime().mutex);
  return result(ready_on(device));
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaChooseDevice(int* out, const cudaDeviceProp*) { return cudaGetDevice(out); }
cudaError_t cudaSetValidDevices(int*, int) { return cudaSetDevice(0); }
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  device_flags = flags;
  return cudaSetDevice(0);
}
cudaError_t cudaGetDeviceFlags(unsigned* out) {
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = device_flags;
  return cudaSetDevice(0);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = ready_on(device); error != cudaSuccess) return result(error);
  fill_in(runtime().device, *out);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* out, cudaDeviceAttr attribute, int device) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = ready_on(device); error != cudaSuccess) return result(error);
  *out = attribute_of(runtime().device, attribute);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int size, int device) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_on(device); error != cudaSuccess) return result(error);
  if (out == nullptr || size <= 0) return result(cudaErrorInvalidValue);
  std::snprintf(out, static_cast<std::size_t>(std::max(size, 0)), "0000:00:00.0");
  return cudaSuccess;
}

// All work has run when its call returns; what is left to do is to tell its fault.
cudaError_t cudaDeviceSynchronize(void) {
  const Lock lock(runtime().mutex);
  return result(ready());
}
cudaError_t cudaDeviceReset(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaProfilerStart(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaProfilerStop(void) { return cudaDeviceSynchronize(); }

// The machine has one way to divide its caches.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* out) {
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = cudaFuncCachePreferNone;
  return cudaDeviceSynchronize();
}
cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaDeviceSynchronize(); }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* stub) {
  const Lock lock(runtime().mutex);
  HostKernel* kernel = nullptr;
  if (const cudaError_t error = find_loaded(stub, kernel); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  const KernelFigures& figures = kernel->figures;
  *out = {};
  out->sharedSizeBytes = figures.static_shared_bytes;
  out->constSizeBytes = figures.constant_bytes;
  out->localSizeBytes = figures.local_bytes_per_thread;
  out->maxThreadsPerBlock = figures.max_threads_per_block;
  out->numRegs = figures.registers_per_thread;
  out->ptxVersion = figures.ptx_version;
  out->binaryVersion = figures.binary_version;
  const auto plain =
      static_cast<int>(kPlainSharedBytes - std::min<std::size_t>(kPlainSharedBytes, figures.static_shared_bytes));
  out->maxDynamicSharedSizeBytes = std::max(plain, kernel->opted_dynamic_bytes);
  out->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  const Lock lock(runtime().mutex);
  HostKernel* kernel = nullptr;
  if (const cudaError_t error = find_loaded(stub, kernel); error != cudaSuccess) return result(error);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
  if (attribute < cudaFuncAttributeMaxDynamicSharedMemorySize || attribute >= cudaFuncAttributeMax)
    return result(cudaErrorInvalidValue);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return not_served("cudaFuncSetAttribute for clusters");
  const int most = runtime().device.max_shared_bytes_per_block - static_cast<int>(kernel->figures.static_shared_bytes);
  if (value < 0 || value > most) return result(cudaErrorInvalidValue);
  kernel->opted_dynamic_bytes = value;
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void* stub, cudaFuncCache) {
  const Lock lock(runtime().mutex);
  HostKernel* kernel = nullptr;
  return result(find_loaded(stub, kernel));
}
cudaError_t cudaFuncGetName(const char** out, const void* stub) {
  const Lock lock(runtime().mutex);
  HostKernel* kernel = nullptr;
  if (const cudaError_t error = find_loaded(stub, kernel); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = kernel->name.c_str();
  return cudaSuccess;
}
cudaError_t cudaFuncGetParamInfo(const void* stub, std::size_t number, std::size_t* offset, std::size_t* size_bytes) {
  const Lock lock(runtime().mutex);
  HostKernel* kernel = nullptr;
  if (const cudaError_t error = find_loaded(stub, kernel); error != cudaSuccess) return result(error);
  if (offset == nullptr || number >= kernel->parameters.size()) return result(cudaErrorInvalidValue);
  *offset = kernel->parameters[number].offset_bytes;
  if (size_bytes != nullptr) *size_bytes = kernel->parameters[number].size_bytes;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void* stub, int threads,
                                                                   std::size_t dynamic_bytes, unsigned) {
  const Lock lock(runtime().mutex);
  HostKernel* kernel = nullptr;
  if (const cudaError_t error = find_loaded(stub, kernel); error != cudaSuccess) return result(error);
  if (out == nullptr || threads <= 0) return result(cudaErrorInvalidValue);
  Occupied occupied;
  const AskOccupancy question{kernel->figures.kernel, static_cast<std::uint32_t>(threads),
                              static_cast<std::uint32_t>(dynamic_bytes)};
  const cudaError_t error = ask_for(Call::occupancy, question, occupied);
  *out = occupied.blocks_per_sm;
  return result(error);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* out, const void* stub, int threads,
                                                          std::size_t dynamic_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, stub, threads, dynamic_bytes, 0);
}

}  // extern "C"
