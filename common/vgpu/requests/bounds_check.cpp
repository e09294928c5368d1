#include "common/vgpu/requests/bounds_check.h"

#include <bit>

#include <fmt/format.h>

namespace roofwalk::vgpu {
namespace {

// Reports "c[1000003], but `c` holds 1000003 elements" and fills in the fault.
void describe(Launch& launch, const Warp& warp, const Op* op, std::uint64_t address, std::uint32_t bytes, int lane,
              const char* verb) {
  const Buffer* buffer = launch.memory.find(address);
  if (buffer == nullptr) buffer = launch.memory.nearest(address);
  constexpr std::uint64_t kFar = 1ull << 40;
  const std::uint64_t distance = buffer == nullptr           ? ~0ull
                                 : address > buffer->address ? address - buffer->address
                                                             : buffer->address - address;
  if (distance > kFar) {
    launch.stop(warp, op, FaultKind::out_of_bounds, lane,
                fmt::format("out of bounds: {} {} bytes at address {:#x}, which belongs to no buffer{}", verb, bytes,
                            address, address < 65536 ? " (a null pointer?)" : ""));
    return;
  }
  const auto offset = static_cast<std::int64_t>(address - buffer->address);
  const auto element = static_cast<std::int64_t>(buffer->element_bytes);
  const std::int64_t index = offset >= 0 ? offset / element : -((-offset + element - 1) / element);
  const std::uint64_t extent = buffer->size_bytes / buffer->element_bytes;
  const std::string at_once = bytes > buffer->element_bytes ? fmt::format(" ({} bytes at once)", bytes) : "";
  std::string what;
  if (buffer->element_bytes == 1 && bytes > 1) {  // an array whose elements are unknown, or bytes read as larger ones
    what = fmt::format("byte {} of {}{}, which holds {} bytes", index, buffer->name, at_once, extent);
  } else {
    // An access to several elements tells how large they are: what the learner calls an element may be larger.
    const std::string of_bytes = at_once.empty() ? "" : fmt::format(" of {} bytes", buffer->element_bytes);
    what = fmt::format("{}[{}]{}, but {} holds {} element{}{}", buffer->name, index, at_once, buffer->name, extent,
                       extent == 1 ? "" : "s", of_bytes);
  }
  launch.stop(warp, op, FaultKind::out_of_bounds, lane, fmt::format("out of bounds: {} {}", verb, what));
  launch.fault->buffer = buffer->name;
  launch.fault->index = index;
  launch.fault->extent = extent;
}

void misaligned(Launch& launch, const Warp& warp, const Op* op, std::uint64_t address, std::uint32_t bytes, int lane,
                const char* verb) {
  const Buffer* buffer = launch.memory.find(address);
  const std::string what = buffer == nullptr ? fmt::format("address {:#x}", address)
                                             : fmt::format("byte {} of {}", address - buffer->address, buffer->name);
  launch.stop(warp, op, FaultKind::misaligned, lane,
              fmt::format("misaligned: {} {} bytes at {}, which is not a multiple of {}", verb, bytes, what, bytes));
  if (buffer != nullptr) launch.fault->buffer = buffer->name;
}

bool write_to_input(Launch& launch, const Warp& warp, const Op* op, const Buffer& buffer, std::uint64_t address,
                    int lane, const char* verb) {
  launch.stop(warp, op, FaultKind::read_only, lane, read_only_message(verb, buffer, address));
  launch.fault->buffer = buffer.name;
  launch.fault->index = static_cast<std::int64_t>((address - buffer.address) / buffer.element_bytes);
  launch.fault->extent = buffer.size_bytes / buffer.element_bytes;
  return false;
}

}  // namespace

bool resolve_anew(Launch& launch, const Warp& warp, const Op* op, const Access& access, const char* verb,
                  Pointers& out) {
  const ptx::Form form = ptx::info(op->instruction->opcode).form;
  const bool constant_load = op->instruction->space == ptx::Space::constant;
  const bool touches_constants = access.high >= Memory::kConstantBase && access.low < Memory::kConstantEnd;
  const bool only_constants = Memory::is_constant(access.low) && Memory::is_constant(access.high);
  const bool only_reads = form == ptx::Form::load || form == ptx::Form::async_copy || form == ptx::Form::fragment_load;
  if ((constant_load && !only_constants) || (!only_reads && touches_constants)) {
    launch.stop(warp, op, FaultKind::out_of_bounds, -1,
                constant_load ? "out of bounds: reads constant memory where there is no __constant__ variable"
                              : "out of bounds: writes constant memory, which a kernel can only read");
    return false;
  }
  // The kernel cannot have a pointer to a constant, so it made this address up; that a constant lies there is chance.
  // On hardware, the addresses of constants differ from run to run.
  if (!constant_load && touches_constants && !launch.program.points_to_constants) {
    launch.stop(warp, op, FaultKind::out_of_bounds, -1,
                "out of bounds: reads constant memory by a number: the file has no pointer to a __constant__ variable");
    return false;
  }
  const std::uint64_t end = access.high + access.bytes;
  BufferMemo& memo = launch.buffer_memos[op->pc];
  const std::uint32_t align = access.align_bytes != 0 ? access.align_bytes : access.bytes;
  if (align > 1) {
    if ((access.bits & (align - 1)) != 0) {
      for (int l = 0; l < kWarpSize; ++l) {
        if ((access.mask >> l & 1u) == 0 || access.of(l) % align == 0) continue;
        misaligned(launch, warp, op, access.of(l), align, l, verb);
        return false;
      }
    }
  }
  if (access.low < memo.low || end > memo.high || end < access.high) {
    const Buffer* buffer = launch.memory.find(access.low);
    if (buffer == nullptr || !buffer->contains(access.low, end - access.low)) {
      for (int l = 0; l < kWarpSize; ++l) {
        if ((access.mask >> l & 1u) == 0) continue;
        const Buffer* own = launch.memory.find(access.of(l));
        if (own == nullptr || !own->contains(access.of(l), access.bytes)) {
          describe(launch, warp, op, access.of(l), access.bytes, l, verb);
          return false;
        }
        if (!only_reads && own->read_only) return write_to_input(launch, warp, op, *own, access.of(l), l, verb);
        out.lane[l] = own->data + (access.of(l) - own->address);
      }
      for (int l = 0; l < kWarpSize; ++l) {
        if ((access.mask >> l & 1u) == 0) out.lane[l] = out.lane[std::countr_zero(access.mask)];
      }
      return true;
    }
    if (!only_reads && buffer->read_only) {
      const int some = std::countr_zero(access.mask);
      return write_to_input(launch, warp, op, *buffer, access.of(some), some, verb);
    }
    memo = {buffer->address, buffer->address + buffer->size_bytes, buffer->data, access.low};
  }
  out.base = memo.data;
  out.low_address = memo.low;
  return true;
}

}  // namespace roofwalk::vgpu
