// Memsets and copies of a plan: they move bytes and count their traffic at L2.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "common/vgpu/gpu.h"
#include "common/vgpu/gpu_step.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {

bool Gpu::check_range(std::uint64_t address, std::uint64_t size_bytes, bool writes, const char* what, int line) {
  const Buffer* buffer = memory_.find(address);
  // A plan has no way to obtain a pointer to constant memory, so an address there was guessed.
  const bool is_constant = Memory::is_constant(address);
  const bool is_inside = buffer != nullptr && buffer->contains(address, size_bytes) && !is_constant;
  if (is_inside && !(writes && buffer->read_only)) return true;
  Fault fault;
  fault.kind = is_inside ? FaultKind::read_only : FaultKind::out_of_bounds;
  fault.kernel = what;
  fault.file = source_path_;
  fault.line = line;
  if (is_inside) {
    fault.message = read_only_message(fmt::format("this {} writes", what), *buffer, address);
    fault.buffer = buffer->name;
    fault_ = std::move(fault);
    return false;
  }
  const Buffer* near = is_constant ? nullptr : buffer != nullptr ? buffer : memory_.nearest(address);
  fault.message =
      is_constant ? fmt::format(
                        "out of bounds: {} of {} bytes in constant memory: __constant__ variables hold what they "
                        "are compiled with, and only kernels read them, by their names",
                        what, size_bytes)
      : near == nullptr || buffer == nullptr
          ? fmt::format("out of bounds: {} of {} bytes at an address that belongs to no buffer", what, size_bytes)
          : fmt::format("out of bounds: {} of {} bytes from byte {} of {}, which has {} bytes", what, size_bytes,
                        address - near->address, near->name, near->size_bytes);
  if (near != nullptr) fault.buffer = near->name;
  fault_ = std::move(fault);
  return false;
}

// Counts the traffic of a memset or copy at L2: whole sectors, except that a write may cover its first and its last
// sector in part.
void Gpu::touch(std::uint64_t address, std::uint64_t size_bytes, bool write, Step& step) {
  InstructionCounters& site = step.totals.sites[0];
  const std::uint64_t end = address + size_bytes;
  for (std::uint64_t line = address / kLineBytes; line * kLineBytes < end; ++line) {
    std::uint32_t bytes[4] = {0, 0, 0, 0};
    unsigned sectors = 0;
    for (unsigned s = 0; s < 4; ++s) {
      const std::uint64_t start = line * kLineBytes + s * kSectorBytes;
      const std::uint64_t from = std::max(start, address), to = std::min(start + kSectorBytes, end);
      if (from >= to) continue;
      sectors |= 1u << s;
      bytes[s] = static_cast<std::uint32_t>(((1ull << (to - from)) - 1) << (from - start));
    }
    const auto count = static_cast<std::uint64_t>(std::popcount(sectors));
    if (write) {
      site.l2_write_sectors += count;
      l2_.write(l2_.place_of(line), bytes, step.first_site, traffic_);
    } else {
      site.l2_read_sectors += count;
      const unsigned missing = l2_.read(l2_.place_of(line), sectors, step.first_site, traffic_).asked;
      site.l2_hit_sectors += count - static_cast<std::uint64_t>(std::popcount(missing));
    }
  }
}

// The bytes are charged as work, so that the budget also ends a plan that has only memsets and copies.
bool Gpu::charge_moved(std::uint64_t size_bytes, const char* what, int line) {
  return charge(
      work::kLaunch + size_bytes / kLineBytes * work::kMovedLine, what, line,
      fmt::format("the plan's memsets and copies exceed its budget (this {} moves {} bytes)", what, size_bytes));
}

// Adds a memset or copy to the steps.
Gpu::Step& Gpu::begin_transfer(const char* name, int line) {
  auto step = std::make_unique<Step>();
  step->name = name;
  step->line = line;
  step->first_site = static_cast<InstructionId>(traffic_.size());
  traffic_.emplace_back();
  step->totals.sites.resize(1);
  steps_.push_back(std::move(step));
  return *steps_.back();
}

bool Gpu::set_memory(std::uint64_t address, std::uint8_t value, std::uint64_t size_bytes, int line) {
  ROOFWALK_CHECK(!fault_ && size_bytes != 0);
  if (!check_range(address, size_bytes, true, "memset", line) || !charge_moved(size_bytes, "memset", line))
    return false;
  const Buffer* buffer = memory_.find(address);
  std::memset(buffer->data + (address - buffer->address), value, size_bytes);
  memory_.define(address, size_bytes);
  if (limits_.watched.meets(address, size_bytes)) watched_line_ = line;
  Step& step = begin_transfer("memset", line);
  if (limits_.counts) touch(address, size_bytes, true, step);
  return true;
}

bool Gpu::copy_memory(std::uint64_t destination, std::uint64_t source, std::uint64_t size_bytes, int line) {
  ROOFWALK_CHECK(!fault_ && size_bytes != 0);
  if (!check_range(destination, size_bytes, true, "memcpy", line) ||
      !check_range(source, size_bytes, false, "memcpy", line) || !charge_moved(size_bytes, "memcpy", line))
    return false;
  const Buffer* to = memory_.find(destination);
  const Buffer* from = memory_.find(source);
  memory_.copy_defined(destination, source, size_bytes);
  if (limits_.watched.meets(destination, size_bytes)) watched_line_ = line;
  std::memmove(to->data + (destination - to->address), from->data + (source - from->address), size_bytes);
  Step& step = begin_transfer("memcpy", line);
  if (limits_.counts) {
    touch(source, size_bytes, false, step);
    touch(destination, size_bytes, true, step);
  }
  return true;
}

}  // namespace roofwalk::vgpu
