// Calls of extern functions. Only a plan makes them, one thread at a time.
#include <algorithm>
#include <bit>
#include <cstring>

#include "common/vgpu/handlers.h"

namespace roofwalk::vgpu {
namespace {

std::uint8_t* local_byte(const Warp& warp, int lane, std::uint32_t offset) {
  return &warp.local[(offset / 4 * kWarpSize + static_cast<std::uint32_t>(lane)) * 4 + offset % 4];
}

}  // namespace

const Op* op_call(Launch& launch, Warp& warp, const Op* op) {
  const ptx::Instruction& in = *op->instruction;
  const int lane = std::countr_zero(warp.mask);
  std::vector<std::vector<std::uint8_t>> arguments;
  for (const ptx::Operand& argument : in.call_arguments) {
    const auto it = launch.program.locals.find(argument.symbol);
    std::vector<std::uint8_t>& bytes = arguments.emplace_back();
    if (it == launch.program.locals.end()) continue;
    for (std::uint32_t i = 0; i < it->second.second; ++i)
      bytes.push_back(*local_byte(warp, lane, it->second.first + i));
  }
  auto value = launch.call_hook(in, arguments);
  if (!value) {
    launch.refusal = value.error();
    launch.fault_pc = op->pc;
    return nullptr;
  }
  // The call may have released or made buffers: what instructions remember of them no longer holds.
  std::fill(launch.buffer_memos.begin(), launch.buffer_memos.end(), BufferMemo{});
  if (!in.call_results.empty()) {
    if (const auto it = launch.program.locals.find(in.call_results[0].symbol); it != launch.program.locals.end()) {
      std::uint8_t bytes[8];
      std::memcpy(bytes, &*value, sizeof bytes);
      for (std::uint32_t i = 0; i < it->second.second && i < 8; ++i)
        *local_byte(warp, lane, it->second.first + i) = bytes[i];
    }
  }
  return op + 1;
}

}  // namespace roofwalk::vgpu
