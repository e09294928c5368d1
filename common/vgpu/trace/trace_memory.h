// The memory of the trace of one block.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>

namespace roofwalk::vgpu {

// Hands out parts of one piece of memory, and memory of the heap when the piece is used up. With a piece as large as
// the trace of the block before, a trace costs one allocation, not several a warp; freeing those was 6 % of the time of
// a short kernel.
class TraceMemory final : public std::pmr::memory_resource {
 public:
  explicit TraceMemory(std::size_t bytes)
      : piece_(std::make_unique_for_overwrite<std::byte[]>(bytes)), end_(piece_.get() + bytes), free_(piece_.get()) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* at = free_;
    auto left = static_cast<std::size_t>(end_ - free_);
    if (std::align(alignment, bytes, at, left) == nullptr) return heap_.allocate(bytes, alignment);
    free_ = static_cast<std::byte*>(at) + bytes;
    return at;
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
    const bool is_of_piece =
        !std::less<>{}(static_cast<std::byte*>(at), piece_.get()) && std::less<>{}(static_cast<std::byte*>(at), end_);
    if (!is_of_piece) heap_.deallocate(at, bytes, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource& heap_ = *std::pmr::new_delete_resource();
  std::unique_ptr<std::byte[]> piece_;
  std::byte *end_, *free_;
};

// Owns a TraceMemory. Never assigned: whatever lies in the old memory would still be in use.
class OwnTraceMemory {
 public:
  OwnTraceMemory() = default;
  explicit OwnTraceMemory(std::size_t bytes) : memory_(std::make_unique<TraceMemory>(bytes)) {}
  OwnTraceMemory(OwnTraceMemory&&) noexcept = default;
  OwnTraceMemory& operator=(OwnTraceMemory&&) = delete;

  TraceMemory* get() const { return memory_.get(); }

 private:
  std::unique_ptr<TraceMemory> memory_;
};

}  // namespace roofwalk::vgpu
