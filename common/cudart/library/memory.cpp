// Memory: what a program allocates, and copies between host and device. Bytes go straight through the file of device
// memory; memory that the host may touch is that file, mapped at the address that kernels use.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "common/cudart/library/graphs.h"
#include "common/cudart/library/memory.h"
#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace roofwalk::cudart {

cudaError_t allocate(void** out, std::size_t size_bytes, MemoryKind kind) {
  const Lock lock(runtime().mutex);
  Runtime& run = runtime();
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = nullptr;
  if (size_bytes == 0) return kind == MemoryKind::managed ? cudaErrorInvalidValue : cudaSuccess;
  Place place;
  if (const cudaError_t error = ask_for(Call::allocate, Allocate{size_bytes, kind, 0}, place); error != cudaSuccess)
    return error;
  if (kind != MemoryKind::device && !map_for_host(place)) {
    ask(Call::release, bytes_of(Release{place.address}));
    return cudaErrorMemoryAllocation;
  }
  run.allocations[place.address] = {place, kind, false};
  *out = reinterpret_cast<void*>(place.address);
  return cudaSuccess;
}

cudaError_t release(void* address, bool is_pinned) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  if (address == nullptr) return cudaSuccess;
  const auto at = runtime().allocations.find(reinterpret_cast<std::uint64_t>(address));
  if (at == runtime().allocations.end() || at->second.is_variable) return cudaErrorInvalidValue;
  if ((at->second.kind == MemoryKind::pinned) != is_pinned) return cudaErrorInvalidValue;
  if (const auto freed = free_of_graph(address)) return *freed;
  if (at->second.kind != MemoryKind::device) munmap(address, whole_pages(at->second.place.size_bytes));
  runtime().allocations.erase(at);
  forget_pool_of(address);
  return ask(Call::release, bytes_of(Release{reinterpret_cast<std::uint64_t>(address)}));
}

}  // namespace roofwalk::cudart

namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

// One end of a copy: a place on the host or in device memory.
struct End {
  char* host = nullptr;
  const Allocation* device = nullptr;
  std::uint64_t address = 0;
};

// `size_bytes` from there lie in one allocation, if they are the device's.
bool find_end(const void* pointer, std::size_t size_bytes, End& end) {
  end.address = number_of(pointer);
  end.device = find_allocation(pointer);
  if (end.device == nullptr) {
    end.host = static_cast<char*>(const_cast<void*>(pointer));
    return true;
  }
  const Place& place = end.device->place;
  return size_bytes <= place.size_bytes - (end.address - place.address);
}

off_t file_offset(const End& end, std::size_t offset_bytes) {
  return static_cast<off_t>(end.device->place.file_offset + (end.address - end.device->place.address) + offset_bytes);
}

// Reads or writes the file of device memory. The kernel of the system finds out whether the host's pointer is good.
template <class Transfer>
cudaError_t through_file(Transfer transfer, char* host, std::size_t size_bytes, off_t offset) {
  while (size_bytes > 0) {
    const ssize_t moved = transfer(runtime().memory_file, host, size_bytes, offset);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return cudaErrorInvalidValue;
    host += moved;
    offset += moved;
    size_bytes -= static_cast<std::size_t>(moved);
  }
  return cudaSuccess;
}

// Whether the ends are what `kind` says. Memory that both sides may touch is good for either.
bool fits_kind(const End& to, const End& from, cudaMemcpyKind kind) {
  const auto is_host = [](const End& end) { return end.device == nullptr || end.device->kind != MemoryKind::device; };
  const auto is_device = [](const End& end) { return end.device != nullptr; };
  switch (kind) {
    case cudaMemcpyHostToHost:
      return is_host(to) && is_host(from);
    case cudaMemcpyHostToDevice:
      return is_device(to) && is_host(from);
    case cudaMemcpyDeviceToHost:
      return is_host(to) && is_device(from);
    case cudaMemcpyDeviceToDevice:
      return is_device(to) && is_device(from);
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

// Moves one row by the host: both ends lie in the file of device memory or on the host.
cudaError_t move_row(const End& to, std::size_t to_bytes, const End& from, std::size_t from_bytes, std::size_t width) {
  char* const to_host = reinterpret_cast<char*>(to.address) + to_bytes;
  char* const from_host = reinterpret_cast<char*>(from.address) + from_bytes;
  const bool is_from_device = from.device != nullptr && from.device->kind == MemoryKind::device;
  if (to.device != nullptr && !is_from_device) return through_file(pwrite, from_host, width, file_offset(to, to_bytes));
  if (from.device != nullptr) return through_file(pread, to_host, width, file_offset(from, from_bytes));
  std::memmove(to_host, from_host, width);
  return cudaSuccess;
}

// `stay_on_device`: the copy is one of the GPU's own.
bool stay_on_device(const End& to, const End& from, cudaMemcpyKind kind) {
  return to.device != nullptr && from.device != nullptr &&
         (kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault);
}

cudaError_t tell_written(const End& to, const Rows& rows) {
  if (runtime().device.watches_memory == 0 || to.device == nullptr) return cudaSuccess;
  return ask(Call::wrote, bytes_of(Fill{to.address, rows.to_pitch_bytes, rows.width_bytes, rows.count,
                                        rows.to_slice_bytes, rows.slices, 0}));
}

}  // namespace

namespace roofwalk::cudart {

cudaError_t copy_rows(void* to_pointer, const void* from_pointer, const Rows& rows, cudaMemcpyKind kind) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  if (rows.is_empty()) return cudaSuccess;
  if (rows.count > 1 && (rows.width_bytes > rows.to_pitch_bytes || rows.width_bytes > rows.from_pitch_bytes))
    return cudaErrorInvalidPitchValue;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  End to, from;
  if (to_pointer == nullptr || from_pointer == nullptr ||
      !find_end(to_pointer, rows.extent_bytes(rows.to_pitch_bytes, rows.to_slice_bytes), to) ||
      !find_end(from_pointer, rows.extent_bytes(rows.from_pitch_bytes, rows.from_slice_bytes), from)) {
    return cudaErrorInvalidValue;
  }
  if (!fits_kind(to, from, kind)) return cudaErrorInvalidValue;
  if (stay_on_device(to, from, kind)) {
    return ask_to_run(Call::copy, bytes_of(Copy{to.address, rows.to_pitch_bytes, from.address, rows.from_pitch_bytes,
                                                rows.width_bytes, rows.count, rows.to_slice_bytes,
                                                rows.from_slice_bytes, rows.slices}));
  }
  for (std::size_t i = 0; i < rows.count * rows.slices; ++i) {
    const std::size_t slice = i / rows.count, row = i % rows.count;
    const cudaError_t error = move_row(to, slice * rows.to_slice_bytes + row * rows.to_pitch_bytes, from,
                                       slice * rows.from_slice_bytes + row * rows.from_pitch_bytes, rows.width_bytes);
    if (error != cudaSuccess) return error;
  }
  return tell_written(to, rows);
}

cudaError_t fill_rows(void* pointer, const Rows& rows, int value) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  if (rows.is_empty()) return cudaSuccess;
  if (rows.count > 1 && rows.width_bytes > rows.to_pitch_bytes) return cudaErrorInvalidValue;
  End end;
  if (!find_end(pointer, rows.extent_bytes(rows.to_pitch_bytes, rows.to_slice_bytes), end) || end.device == nullptr)
    return cudaErrorInvalidValue;
  const auto byte = static_cast<unsigned char>(value);
  return ask_to_run(Call::fill, bytes_of(Fill{end.address, rows.to_pitch_bytes, rows.width_bytes, rows.count,
                                              rows.to_slice_bytes, rows.slices, byte}));
}

}  // namespace roofwalk::cudart

namespace {

cudaError_t copy(void* to, const void* from, std::size_t size_bytes, cudaMemcpyKind kind) {
  return copy_rows(to, from, {size_bytes, size_bytes, size_bytes, 1}, kind);
}

cudaError_t fill(void* pointer, std::size_t pitch_bytes, int value, std::size_t width_bytes, std::size_t rows) {
  return fill_rows(pointer, {pitch_bytes, pitch_bytes, width_bytes, rows}, value);
}

// The address of `size_bytes` of a module variable, from `offset_bytes` on.
cudaError_t symbol_address(const void* shadow, std::size_t size_bytes, std::size_t offset_bytes, char** address) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return error;
  HostVariable* const variable = find_variable(shadow);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  if (const cudaError_t error = load(*variable); error != cudaSuccess) return error;
  const Place& place = variable->place;
  if (offset_bytes > place.size_bytes || size_bytes > place.size_bytes - offset_bytes) return cudaErrorInvalidValue;
  *address = reinterpret_cast<char*>(place.address) + offset_bytes;
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** out, std::size_t size_bytes) {
  return result(allocate(out, size_bytes, MemoryKind::device));
}
cudaError_t cudaMallocManaged(void** out, std::size_t size_bytes, unsigned) {
  return result(allocate(out, size_bytes, MemoryKind::managed));
}
cudaError_t cudaMallocHost(void** out, std::size_t size_bytes) {
  return result(allocate(out, size_bytes, MemoryKind::pinned));
}
cudaError_t cudaHostAlloc(void** out, std::size_t size_bytes, unsigned) { return cudaMallocHost(out, size_bytes); }
cudaError_t cudaMallocPitch(void** out, std::size_t* pitch_bytes, std::size_t width_bytes, std::size_t height) {
  if (pitch_bytes == nullptr) return result(cudaErrorInvalidValue);
  *pitch_bytes = whole_pitch(width_bytes);
  return result(allocate(out, *pitch_bytes * height, MemoryKind::device));
}
cudaError_t cudaFree(void* address) { return result(release(address, /*is_pinned=*/false)); }
cudaError_t cudaFreeHost(void* address) { return result(release(address, /*is_pinned=*/true)); }

cudaError_t cudaHostGetFlags(unsigned* out, void* pointer) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  const Allocation* const found = find_allocation(pointer);
  if (out == nullptr || found == nullptr || found->kind != MemoryKind::pinned) return result(cudaErrorInvalidValue);
  *out = cudaHostAllocPortable | cudaHostAllocMapped;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  *out = {};
  void* const address = const_cast<void*>(pointer);
  const Allocation* const found = find_allocation(pointer);
  if (found == nullptr) {
    out->type = cudaMemoryTypeUnregistered;
    out->device = -2;  // what the runtime tells of memory that it does not know
    out->hostPointer = address;
    return cudaSuccess;
  }
  out->type = found->kind == MemoryKind::device    ? cudaMemoryTypeDevice
              : found->kind == MemoryKind::managed ? cudaMemoryTypeManaged
                                                   : cudaMemoryTypeHost;
  out->devicePointer = address;
  out->hostPointer = found->kind == MemoryKind::device ? nullptr : address;
  return cudaSuccess;
}

// Managed memory has one place, so there is nothing to move and nothing to advise.
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t, cudaMemLocation, unsigned, cudaStream_t) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  const Allocation* const found = find_allocation(pointer);
  return found != nullptr && found->kind == MemoryKind::managed ? cudaSuccess : result(cudaErrorInvalidValue);
}
cudaError_t cudaMemAdvise(const void* pointer, std::size_t size_bytes, cudaMemoryAdvise, cudaMemLocation where) {
  return cudaMemPrefetchAsync(pointer, size_bytes, where, 0, nullptr);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size_bytes, cudaMemcpyKind kind) {
  return result(copy(to, from, size_bytes, kind));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size_bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return result(in_stream(stream, cudaGraphNodeTypeMemcpy, [=] { return copy(to, from, size_bytes, kind); }));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch_bytes, const void* from, std::size_t from_pitch_bytes,
                         std::size_t width_bytes, std::size_t height, cudaMemcpyKind kind) {
  return result(copy_rows(to, from, {to_pitch_bytes, from_pitch_bytes, width_bytes, height}, kind));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch_bytes, const void* from, std::size_t from_pitch_bytes,
                              std::size_t width_bytes, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return result(in_stream(stream, cudaGraphNodeTypeMemcpy, [=] {
    return cudaMemcpy2D(to, to_pitch_bytes, from, from_pitch_bytes, width_bytes, height, kind);
  }));
}

cudaError_t cudaMemset(void* address, int value, std::size_t size_bytes) {
  return result(fill(address, size_bytes, value, size_bytes, 1));
}
cudaError_t cudaMemsetAsync(void* address, int value, std::size_t size_bytes, cudaStream_t stream) {
  return result(in_stream(stream, cudaGraphNodeTypeMemset, [=] { return cudaMemset(address, value, size_bytes); }));
}
cudaError_t cudaMemset2D(void* address, std::size_t pitch_bytes, int value, std::size_t width_bytes,
                         std::size_t height) {
  return result(fill(address, pitch_bytes, value, width_bytes, height));
}
cudaError_t cudaMemset2DAsync(void* address, std::size_t pitch_bytes, int value, std::size_t width_bytes,
                              std::size_t height, cudaStream_t stream) {
  return result(in_stream(stream, cudaGraphNodeTypeMemset,
                          [=] { return cudaMemset2D(address, pitch_bytes, value, width_bytes, height); }));
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t size_bytes, std::size_t offset_bytes,
                               cudaMemcpyKind kind) {
  char* address = nullptr;
  const cudaError_t error = symbol_address(symbol, size_bytes, offset_bytes, &address);
  return result(error != cudaSuccess ? error : copy(address, from, size_bytes, kind));
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t size_bytes,
                                    std::size_t offset_bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return result(in_stream(stream, cudaGraphNodeTypeMemcpy,
                          [=] { return cudaMemcpyToSymbol(symbol, from, size_bytes, offset_bytes, kind); }));
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t size_bytes, std::size_t offset_bytes,
                                 cudaMemcpyKind kind) {
  char* address = nullptr;
  const cudaError_t error = symbol_address(symbol, size_bytes, offset_bytes, &address);
  return result(error != cudaSuccess ? error : copy(to, address, size_bytes, kind));
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t size_bytes, std::size_t offset_bytes,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return result(in_stream(stream, cudaGraphNodeTypeMemcpy,
                          [=] { return cudaMemcpyFromSymbol(to, symbol, size_bytes, offset_bytes, kind); }));
}
cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  if (out == nullptr) return result(cudaErrorInvalidValue);
  char* address = nullptr;
  const cudaError_t error = symbol_address(symbol, 0, 0, &address);
  if (error == cudaSuccess) *out = address;
  return result(error);
}
cudaError_t cudaGetSymbolSize(std::size_t* out, const void* symbol) {
  const Lock lock(runtime().mutex);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  char* address = nullptr;
  const cudaError_t error = symbol_address(symbol, 0, 0, &address);
  if (error == cudaSuccess) *out = find_variable(symbol)->place.size_bytes;
  return result(error);
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (free_bytes == nullptr || total_bytes == nullptr) return result(cudaErrorInvalidValue);
  *total_bytes = static_cast<std::size_t>(runtime().device.memory_bytes);
  *free_bytes = *total_bytes;
  for (const auto& [address, each] : runtime().allocations)
    *free_bytes -= std::min<std::size_t>(*free_bytes, each.place.size_bytes);
  return cudaSuccess;
}

ROOFWALK_PER_THREAD(cudaMemcpy, cudaMemcpy_ptds)
ROOFWALK_PER_THREAD(cudaMemcpyAsync, cudaMemcpyAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMemcpy2D, cudaMemcpy2D_ptds)
ROOFWALK_PER_THREAD(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMemset, cudaMemset_ptds)
ROOFWALK_PER_THREAD(cudaMemsetAsync, cudaMemsetAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMemset2D, cudaMemset2D_ptds)
ROOFWALK_PER_THREAD(cudaMemset2DAsync, cudaMemset2DAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds)
ROOFWALK_PER_THREAD(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds)
ROOFWALK_PER_THREAD(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz)
ROOFWALK_PER_THREAD(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)

}  // extern "C"
