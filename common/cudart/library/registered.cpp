// Memory of the program's own that it registers. Copies need no registration. For kernels, the pages become pages of
// device memory, under the program's own addresses; kernels see them at another address.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "common/cudart/library/memory.h"
#include "common/cudart/library/runtime.h"

using namespace roofwalk::cudart;

namespace {

struct Pages {
  char* begin;
  std::size_t size_bytes;
};

Pages pages_of(const void* pointer, std::size_t size_bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t begin = at - at % whole_pages(1);
  return {reinterpret_cast<char*>(begin), whole_pages(at + size_bytes - begin)};
}

bool write_all(const Pages& pages, std::uint64_t offset) {
  for (std::size_t done = 0; done < pages.size_bytes;) {
    const ssize_t moved =
        pwrite(runtime().memory_file, pages.begin + done, pages.size_bytes - done, static_cast<off_t>(offset + done));
    if (moved <= 0) return false;
    done += static_cast<std::size_t>(moved);
  }
  return true;
}

// Puts pages of device memory, with the same contents, in the place of the program's.
cudaError_t share_pages(const void* pointer, Registered& memory) {
  const Pages pages = pages_of(pointer, memory.size_bytes);
  // The stack in use cannot be replaced: what is written to it on the way would be lost.
  const auto* const here = reinterpret_cast<const char*>(&pages);
  constexpr std::ptrdiff_t kInUseBytes = 64 << 10;
  if (pages.begin < here + kInUseBytes && here - kInUseBytes < pages.begin + pages.size_bytes)
    return not_served("cudaHostGetDevicePointer of memory on the stack");
  Place place;
  const cudaError_t error = ask_for(Call::allocate, Allocate{pages.size_bytes, MemoryKind::pinned, 0}, place);
  if (error != cudaSuccess) return error;
  const bool is_shared = write_all(pages, place.file_offset) &&
                         mmap(pages.begin, pages.size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                              runtime().memory_file, static_cast<off_t>(place.file_offset)) == pages.begin;
  if (!is_shared) {
    ask(Call::release, bytes_of(Release{place.address}));
    return cudaErrorInvalidValue;
  }
  memory.place = place;
  return cudaSuccess;
}

// Gives the program pages of its own again, with what is in them.
cudaError_t take_back(const void* pointer, const Registered& memory) {
  const Pages pages = pages_of(pointer, memory.size_bytes);
  void* const own = mmap(nullptr, pages.size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) return cudaErrorMemoryAllocation;
  __builtin_memcpy(own, pages.begin, pages.size_bytes);
  if (mremap(own, pages.size_bytes, pages.size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages.begin) == MAP_FAILED)
    return cudaErrorMemoryAllocation;
  return ask(Call::release, bytes_of(Release{memory.place.address}));
}

}  // namespace

extern "C" {

cudaError_t cudaHostRegister(void* pointer, std::size_t size_bytes, unsigned) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (pointer == nullptr || size_bytes == 0) return result(cudaErrorInvalidValue);
  const bool is_new = find_allocation(pointer) == nullptr &&
                      runtime().registered.try_emplace(pointer, Registered{size_bytes, {}}).second;
  return result(is_new ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void* pointer) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  const auto at = runtime().registered.find(pointer);
  if (at == runtime().registered.end()) return result(cudaErrorHostMemoryNotRegistered);
  const Registered memory = at->second;
  runtime().registered.erase(at);
  return memory.place.address == 0 ? cudaSuccess : result(take_back(pointer, memory));
}

cudaError_t cudaHostGetDevicePointer(void** out, void* pointer, unsigned) {
  const Lock lock(runtime().mutex);
  if (const cudaError_t error = ready(); error != cudaSuccess) return result(error);
  if (out == nullptr) return result(cudaErrorInvalidValue);
  if (const auto at = runtime().registered.find(pointer); at != runtime().registered.end()) {
    Registered& memory = at->second;
    if (memory.place.address == 0) {
      if (const cudaError_t error = share_pages(pointer, memory); error != cudaSuccess) return result(error);
    }
    const char* const begin = pages_of(pointer, memory.size_bytes).begin;
    *out = reinterpret_cast<char*>(memory.place.address) + (static_cast<char*>(pointer) - begin);
    return cudaSuccess;
  }
  const Allocation* const found = find_allocation(pointer);
  if (found == nullptr || found->kind != MemoryKind::pinned) return result(cudaErrorInvalidValue);
  *out = pointer;
  return cudaSuccess;
}

}  // extern "C"
