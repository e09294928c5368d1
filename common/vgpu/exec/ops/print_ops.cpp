// vprintf and __assertfail, which nvcc generates for printf and assert, and malloc and free: externs that the machine
// implements. Their arguments are in .param variables. vprintf's second argument points to a buffer with the values to
// print, each at its own alignment.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/print.h"
#include "common/vgpu/memory/heap.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kMostText = 1024;  // limit for a format and for each %s

std::optional<std::uint8_t> byte_at(const Launch& launch, const Warp& warp, int lane, std::uint64_t address) {
  if (address - kSharedWindow < kWindowBytes) {
    const std::uint64_t offset = address - kSharedWindow;
    if (offset >= launch.program.shared_bytes) return std::nullopt;
    return warp.block->shared[offset];
  }
  if (address - kLocalWindow < kWindowBytes) {
    const std::uint64_t offset = address - kLocalWindow;
    if (offset >= launch.program.local_bytes) return std::nullopt;
    return warp.local[(offset / 4 * kWarpSize + static_cast<std::uint64_t>(lane)) * 4 + offset % 4];
  }
  const Buffer* buffer = launch.memory.find(address);
  if (buffer == nullptr) return std::nullopt;
  return buffer->data[address - buffer->address];
}

std::optional<std::string> text_at(const Launch& launch, const Warp& warp, int lane, std::uint64_t address) {
  std::string out;
  for (std::uint64_t i = 0; i < kMostText; ++i) {
    const auto byte = byte_at(launch, warp, lane, address + i);
    if (!byte) return std::nullopt;
    if (*byte == 0) break;
    out += static_cast<char>(*byte);
  }
  return out;
}

// Returns one lane's value of the call's argument number `index`.
std::uint64_t argument(const Launch& launch, const Warp& warp, const Op* op, int lane, std::size_t index) {
  const std::vector<ptx::Operand>& all = op->instruction->call_arguments;
  if (index >= all.size()) return 0;
  if (all[index].kind == ptx::Operand::Kind::immediate) return all[index].bits;
  const auto at = launch.program.locals.find(all[index].symbol);
  if (at == launch.program.locals.end()) return 0;
  std::uint64_t value = 0;
  for (std::uint32_t b = 0; b < std::min(at->second.second, 8u); ++b) {
    const auto byte = byte_at(launch, warp, lane, kLocalWindow + at->second.first + b);
    value |= std::uint64_t{byte.value_or(0)} << (8 * b);
  }
  return value;
}

void put_result(const Launch& launch, const Warp& warp, const Op* op, int lane, std::uint64_t value) {
  if (op->instruction->call_results.empty()) return;
  const auto at = launch.program.locals.find(op->instruction->call_results[0].symbol);
  if (at == launch.program.locals.end()) return;
  for (std::uint32_t b = 0; b < std::min(at->second.second, 8u); ++b) {
    const std::uint32_t offset = at->second.first + b;
    warp.local[(offset / 4 * kWarpSize + static_cast<std::uint32_t>(lane)) * 4 + offset % 4] =
        static_cast<std::uint8_t>(value >> (8 * b));
  }
}

// Prints for one thread; returns the number of arguments that its format used. nullopt if the format cannot be read.
// Charges what it reads, also of texts that the format cuts, what it converts and what it writes.
std::optional<int> print(Launch& launch, const Warp& warp, const Op* op, int lane) {
  std::uint64_t read_bytes = 0;
  const auto text = [&](std::uint64_t address) {
    auto found = text_at(launch, warp, lane, address);
    read_bytes += found ? found->size() : 0;
    return found;
  };
  const auto format = text(argument(launch, warp, op, lane, 0));
  if (!format) return std::nullopt;
  std::uint64_t at = argument(launch, warp, op, lane, 1);
  const bool has_buffer = at != 0;
  PrintSource source;
  source.next = [&](std::uint32_t bytes) -> std::optional<std::uint64_t> {
    if (!has_buffer) return std::nullopt;
    at = (at + bytes - 1) / bytes * bytes;
    std::uint64_t value = 0;
    for (std::uint32_t b = 0; b < bytes; ++b) {
      const auto byte = byte_at(launch, warp, lane, at + b);
      if (!byte) return std::nullopt;
      value |= std::uint64_t{*byte} << (8 * b);
    }
    at += bytes;
    return value;
  };
  source.text = text;
  Formatted out = format_print(*format, source);
  launch.charge((read_bytes + out.text.size()) * work::kPrintedByte +
                static_cast<std::uint64_t>(out.arguments) * work::kPrintedArgument);
  const std::uint32_t thread = warp.index * kWarpSize + static_cast<std::uint32_t>(lane);
  launch.printer->add(warp.block->linear_index, thread, std::move(out.text));
  return out.arguments;
}

}  // namespace

const Op* op_print(Launch& launch, Warp& warp, const Op* op) {
  if (launch.printer == nullptr) return op + 1;
  const auto threads = static_cast<std::uint64_t>(std::popcount(warp.mask));
  if (launch.work_left < threads * work::kPrint) {
    return launch.stop(warp, op, FaultKind::runaway, -1, kOutOfBudget);
  }
  launch.work_left -= threads * work::kPrint;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t thread = warp.index * kWarpSize + static_cast<std::uint32_t>(lane);
    if (!launch.printer->wants(warp.block->linear_index, thread)) {
      launch.printer->count_only();
      put_result(launch, warp, op, lane, 0);
      continue;
    }
    const auto arguments = print(launch, warp, op, lane);
    if (!arguments) {
      return launch.stop(warp, op, FaultKind::out_of_bounds, lane,
                         "out of bounds: printf's format is not text in memory: write it as a string in quotes");
    }
    put_result(launch, warp, op, lane, static_cast<std::uint32_t>(*arguments));
  }
  return op + 1;
}

const Op* op_assertion_failed(Launch& launch, Warp& warp, const Op* op) {
  const int lane = std::countr_zero(warp.mask);
  const auto condition = text_at(launch, warp, lane, argument(launch, warp, op, lane, 0));
  const PrintSource source{.next = [](std::uint32_t) { return std::optional<std::uint64_t>(1); },
                           .text = [&](std::uint64_t) { return condition; }};
  return launch.stop(warp, op, FaultKind::assertion, lane,
                     fmt::format("assertion failed: {}: your own assert, false for this thread; printf() its values "
                                 "just before to see why",
                                 format_print("%s", source).text));
}

const Op* op_allocate(Launch& launch, Warp& warp, const Op* op) {
  launch.charge(static_cast<std::uint64_t>(std::popcount(warp.mask)) * work::kPrint);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t size_bytes = argument(launch, warp, op, lane, 0);
    const std::uint64_t address = launch.heap->allocate(size_bytes);
    put_result(launch, warp, op, lane, address);
    if (address != 0 && size_bytes != 0 && launch.sanitized && launch.memory.keeps_undefined())
      launch.memory.undefine(address, size_bytes);
  }
  return op + 1;
}

const Op* op_release(Launch& launch, Warp& warp, const Op* op) {
  launch.charge(static_cast<std::uint64_t>(std::popcount(warp.mask)) * work::kPrint);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t address = argument(launch, warp, op, lane, 0);
    if (address == 0 || launch.heap->release(address)) continue;
    return launch.stop(warp, op, FaultKind::bad_call, lane,
                       fmt::format("free() or delete of 0x{:x}, which malloc() or new in a kernel has not returned, or "
                                   "which is free again",
                                   address));
  }
  return op + 1;
}

}  // namespace roofwalk::vgpu
