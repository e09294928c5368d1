#include "common/device/remote/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace roofwalk {
namespace {

// Returns null on failure, with errno.
std::uint8_t* mapped(int file) {
  void* memory = ::mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

}  // namespace

void SharedMemory::Unmap::operator()(std::uint8_t* memory) const { ::munmap(memory, kSharedBytes); }

Result<SharedMemory> SharedMemory::make() {
  const auto cannot = [] { return Error{.message = fmt::format("cannot share memory: {}", std::strerror(errno))}; };
  Descriptor file(::memfd_create("roofwalk-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0 || ::ftruncate(file.get(), kSharedBytes) != 0) return cannot();
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return cannot();
  Mapping memory(mapped(file.get()));
  if (!memory) return cannot();
  return SharedMemory(std::move(file), std::move(memory));
}

void SharedMemory::put(std::span<const std::uint8_t> bytes) {
  ROOFWALK_CHECK(bytes.size() <= kSharedBytes);
  std::memcpy(memory_.get(), bytes.data(), bytes.size());
}

void SharedMemory::take(std::span<std::uint8_t> bytes) const {
  ROOFWALK_CHECK(bytes.size() <= kSharedBytes);
  std::memcpy(bytes.data(), memory_.get(), bytes.size());
}

Result<std::span<std::uint8_t>> open_shared_memory() {
  std::uint8_t* memory = mapped(kSharedDescriptor);
  if (memory == nullptr) {
    return Error{.message = fmt::format("the process shares no memory with its parent: {}", std::strerror(errno))};
  }
  ::close(kSharedDescriptor);  // the device's child programs must not inherit it
  return std::span(memory, kSharedBytes);
}

}  // namespace roofwalk
