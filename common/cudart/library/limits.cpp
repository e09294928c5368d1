// Limits of the device, and the peers that it does not have.
#include <algorithm>
#include <cstddef>
#include <map>

#include "common/cudart/library/memory.h"
#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace {

// As the CUDA C++ Programming Guide and the documentation of cudaDeviceSetLimit give them. The heap is the only one
// that the machine holds a program to: its stacks and the buffer of printf are as large as they need to be.
std::map<cudaLimit, std::size_t>& limits() {
  static auto* const all = new std::map<cudaLimit, std::size_t>{
      {cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 1 << 20},
      {cudaLimitMallocHeapSize, 8 << 20},   {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 0}};
  return *all;
}

cudaError_t ready_without_peer(int peer) {
  const cudaError_t error = ready();
  return error != cudaSuccess ? error : peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  const auto at = limits().find(limit);
  if (at == limits().end()) return result(cudaErrorUnsupportedLimit);
  at->second = value;
  if (limit != cudaLimitMallocHeapSize) return cudaSuccess;
  return result(ask(Call::limit_heap, bytes_of(HeapSize{value})));
}
cudaError_t cudaDeviceGetLimit(std::size_t* out, cudaLimit limit) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  const auto at = limits().find(limit);
  if (at == limits().end()) return result(cudaErrorUnsupportedLimit);
  *out = at->second;
  return cudaSuccess;
}

// Banks of shared memory have one width since compute capability 5.0.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* out) {
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = cudaSharedMemBankSizeFourByte;
  return cudaDeviceSynchronize();
}
cudaError_t cudaFuncSetSharedMemConfig(const void* stub, cudaSharedMemConfig) {
  return cudaFuncSetCacheConfig(stub, cudaFuncCachePreferNone);
}

cudaError_t cudaDeviceCanAccessPeer(int* out, int device, int peer) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = 0;
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  return result(device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  const Lock lock(runtime().mutex);
  return result(ready_without_peer(peer));
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const Lock lock(runtime().mutex);
  return result(ready_without_peer(peer));
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t size_bytes) {
  if (to_device != 0 || from_device != 0) return result(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, size_bytes, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t size_bytes,
                                cudaStream_t) {
  return cudaMemcpyPeer(to, to_device, from, from_device, size_bytes);
}

cudaError_t cudaDeviceGetByPCIBusId(int* out, const char* name) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr || name == nullptr) return result(cudaErrorInvalidValue);
  *out = 0;
  return std::string_view(name).starts_with("0000:00:00") ? cudaSuccess : result(cudaErrorInvalidDevice);
}

// The largest shared memory with which so many blocks fit, in steps of what the machine allocates.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* out, const void* stub, int blocks, int threads) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr || blocks <= 0) return result(cudaErrorInvalidValue);
  constexpr std::size_t kStepBytes = 128;
  std::size_t low = 0, high = static_cast<std::size_t>(runtime().device.max_shared_bytes_per_block) / kStepBytes + 1;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    int fit = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, stub, threads, middle * kStepBytes);
    if (error != cudaSuccess) return error;
    (fit >= blocks ? low : high) = middle;
  }
  *out = low * kStepBytes;
  return cudaSuccess;
}

}  // extern "C"
