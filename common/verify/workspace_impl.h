// The internals of Workspace, shared by its two source files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/record/fault.h"
#include "common/verify/verify.h"

namespace roofwalk {

struct Workspace::Impl {
  // One allocation: guard, data, guard.
  struct Buffer {
    std::string name;
    DeviceBuffer memory;
    std::uint64_t data_bytes = 0;
    Element element = Element::f32;
    const InputBuffer* input = nullptr;  // in `problem`; null for outputs and scratch
  };

  Impl(Device& device_in, Problem problem_in, std::uint64_t guard_bytes_in)
      : device(device_in), problem(std::move(problem_in)), guard_bytes(guard_bytes_in) {}
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<Buffer> allocate(const std::string& name, std::uint64_t data_bytes, Element element);
  std::uint64_t data_address(const Buffer& buffer) const { return buffer.memory.address + guard_bytes; }
  void refresh(const Buffer& buffer);  // resets guards and contents
  // Fills bytes of the allocation with this word, in memory order.
  void poison(const Buffer& buffer, std::uint64_t offset_bytes, std::uint64_t size_bytes, std::uint32_t word);
  void release_scratch();
  Result<std::uint64_t> allocate_scratch(std::uint64_t size_bytes);
  std::optional<Correctness> check_guards() const;
  std::optional<Correctness> check_inputs() const;
  Correctness compare_output(const Buffer& buffer, const Expected& expected) const;

  Device& device;
  const Problem problem;
  const std::uint64_t guard_bytes;
  std::vector<Buffer> buffers;  // inputs and outputs, in the order of the parameters
  std::vector<Buffer> scratch;  // of the current run
  std::vector<ArgumentBytes> arguments;
  std::optional<Fault> fault;          // in the last run
  std::optional<Correctness> overrun;  // a damaged guard in the last run, whose scratch is already released
};

}  // namespace roofwalk
