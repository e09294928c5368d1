// Memory pools: all take from the memory of the device, and differ in what they tell of their use. Memory that is freed
// is free at once.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>

#include "common/cudart/library/graphs.h"
#include "common/cudart/library/memory.h"
#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace {

struct HostPool {
  int reuse[3] = {1, 1, 1};  // cudaMemPoolReuse...
  std::uint64_t threshold_bytes = 0, used_bytes = 0, most_used_bytes = 0;
};

struct Pools {
  HostPool own;                    // of the device
  HostPool* current = &own;        // that cudaMallocAsync takes from
  std::set<const HostPool*> more;  // those of the program
  std::map<const void*, std::pair<HostPool*, std::uint64_t>> taken;
};

Pools& pools() {
  static auto* const all = new Pools;
  return *all;
}

HostPool* own(cudaMemPool_t pool) { return reinterpret_cast<HostPool*>(pool); }
cudaMemPool_t handle_of(HostPool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }
bool is_pool(cudaMemPool_t pool) { return own(pool) == &pools().own || pools().more.contains(own(pool)); }

cudaError_t ready_with(cudaMemPool_t pool) {
  const cudaError_t error = ready();
  return error != cudaSuccess || is_pool(pool) ? error : cudaErrorInvalidValue;
}

cudaError_t take(void** out, std::size_t size_bytes, HostPool& pool) {
  const cudaError_t error = allocate(out, size_bytes, MemoryKind::device);
  if (error != cudaSuccess || *out == nullptr) return error;
  pools().taken[*out] = {&pool, size_bytes};
  pool.used_bytes += size_bytes;
  pool.most_used_bytes = std::max(pool.most_used_bytes, pool.used_bytes);
  return cudaSuccess;
}

// The figure of an attribute of 64 bits; nullptr: it has 32, or none.
std::uint64_t* figure_of(HostPool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.threshold_bytes;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used_bytes;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.most_used_bytes;
    default:
      return nullptr;
  }
}

int* flag_of(HostPool& pool, cudaMemPoolAttr attribute) {
  const int number = static_cast<int>(attribute) - static_cast<int>(cudaMemPoolReuseFollowEventDependencies);
  return number >= 0 && number < 3 ? &pool.reuse[number] : nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = handle_of(&pools().own);
  return cudaSetDevice(device);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = handle_of(pools().current);
  return cudaSetDevice(device);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(pool); error != cudaSuccess) return result(error);
  pools().current = own(pool);
  return cudaSetDevice(device);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* how) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr || how == nullptr || how->allocType != cudaMemAllocationTypePinned)
    return result(cudaErrorInvalidValue);
  if (how->location.type != cudaMemLocationTypeDevice) return not_served("cudaMemPoolCreate for memory of the host");
  auto* const pool = new HostPool;
  pools().more.insert(pool);
  *out = handle_of(pool);
  return cudaSuccess;
}
// What has been taken from it stays until it is freed.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(pool); error != cudaSuccess) return result(error);
  if (own(pool) == &pools().own) return result(cudaErrorInvalidValue);
  if (pools().current == own(pool)) pools().current = &pools().own;
  for (auto& [address, taken] : pools().taken) {
    if (taken.first == own(pool)) taken.first = &pools().own;
  }
  pools().more.erase(own(pool));
  delete own(pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(pool); error != cudaSuccess) return result(error);
  if (value == nullptr) return result(cudaErrorInvalidValue);
  if (int* const flag = flag_of(*own(pool), attribute)) {
    std::memcpy(flag, value, sizeof *flag);
    return cudaSuccess;
  }
  std::uint64_t wanted = 0;
  std::memcpy(&wanted, value, sizeof wanted);
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    own(pool)->threshold_bytes = wanted;
    return cudaSuccess;
  }
  // The highest use can only be begun anew.
  const bool is_highest = attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
  if (!is_highest || wanted != 0) return result(cudaErrorInvalidValue);
  own(pool)->most_used_bytes = own(pool)->used_bytes;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* out) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(pool); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  if (const int* const flag = flag_of(*own(pool), attribute)) {
    std::memcpy(out, flag, sizeof *flag);
  } else if (const std::uint64_t* const figure = figure_of(*own(pool), attribute)) {
    std::memcpy(out, figure, sizeof *figure);
  } else {
    return result(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  const Lock lock(runtime().mutex);
  return result(ready_with(pool));
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions, std::size_t count) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(pool); error != cudaSuccess) return result(error);
  for (std::size_t i = 0; i < count; ++i) {
    if (descriptions == nullptr || descriptions[i].location.id != 0) return result(cudaErrorInvalidDevice);
  }
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* out, cudaMemPool_t pool, cudaMemLocation* where) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(pool); error != cudaSuccess) return result(error);
  if (out == nullptr || where == nullptr) return result(cudaErrorInvalidValue);
  *out = where->id == 0 ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void** out, std::size_t size_bytes, cudaMemPool_t pool, cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready_with(pool); error != cudaSuccess) return result(error);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  // What a graph allocates is there from the beginning, and stays.
  if (captures(stream)) capture(stream, cudaGraphNodeTypeMemAlloc, {});
  return result(take(out, size_bytes, *own(pool)));
}
cudaError_t cudaMallocAsync(void** out, std::size_t size_bytes, cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  return cudaMallocFromPoolAsync(out, size_bytes, handle_of(pools().current), stream);
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  if (captures(stream)) return result(capture(stream, cudaGraphNodeTypeMemFree, {}));
  return cudaFree(address);
}

ROOFWALK_PER_THREAD(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMallocAsync, cudaMallocAsync_ptsz)
ROOFWALK_PER_THREAD(cudaFreeAsync, cudaFreeAsync_ptsz)

}  // extern "C"

namespace roofwalk::cudart {

void forget_pool_of(const void* address) {
  const auto at = pools().taken.find(address);
  if (at == pools().taken.end()) return;
  at->second.first->used_bytes -= at->second.second;
  pools().taken.erase(at);
}

}  // namespace roofwalk::cudart
