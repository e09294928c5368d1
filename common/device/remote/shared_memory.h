// Memory that a worker shares with its parent. The bytes of buffers travel through it, several times faster than
// through a socket. Every piece of them starts at its beginning, so that small problems touch few pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/base/child.h"
#include "common/base/result.h"

namespace roofwalk {

// The size of the memory, and so the most bytes of a buffer in one message. With more, the receiver no longer finds the
// bytes in the processor's cache; with less, the messages take longer than the bytes.
inline constexpr std::size_t kSharedBytes = 8 << 20;

// The parent's side. The worker is untrusted and may change the bytes at any time, so they are copied before use and
// there is no other access. It cannot make the memory smaller, which would kill a parent that touches what is gone.
class SharedMemory {
 public:
  // Errors: the system gives no such memory.
  static Result<SharedMemory> make();

  int descriptor() const { return file_.get(); }  // the worker gets it as kSharedDescriptor

  // Copy at most kSharedBytes to and from the beginning.
  void put(std::span<const std::uint8_t> bytes);
  void take(std::span<std::uint8_t> bytes) const;

 private:
  struct Unmap {
    void operator()(std::uint8_t* memory) const;
  };
  using Mapping = std::unique_ptr<std::uint8_t, Unmap>;

  SharedMemory(Descriptor file, Mapping memory) : file_(std::move(file)), memory_(std::move(memory)) {}

  Descriptor file_;
  Mapping memory_;
};

// The worker's side: returns the memory behind kSharedDescriptor, which it closes. The memory stays as long as the
// process. Errors: nobody shares memory with this process.
Result<std::span<std::uint8_t>> open_shared_memory();

}  // namespace roofwalk
