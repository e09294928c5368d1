#include "common/vgpu/timing/occupancy.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/vgpu/memory/sectors.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::int64_t kWarp = 32;

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Result<Occupancy> occupancy_of(const Machine& machine, const BlockNeeds& needs) {
  const auto too_many = [&](std::string_view what, std::int64_t wanted, std::int64_t most) {
    return Error{.message = fmt::format("a block needs {} {}, but {} has {}", wanted, what, machine.name, most)};
  };
  const auto threads = static_cast<std::int64_t>(needs.threads);
  if (threads > machine.max_threads_per_block) return too_many("threads", threads, machine.max_threads_per_block);
  const std::int64_t warps = (threads + kWarp - 1) / kWarp;
  const std::int64_t registers = warps * round_up(needs.registers_per_thread * kWarp, machine.register_allocation_unit);
  if (registers > machine.registers_per_sm) return too_many("registers", registers, machine.registers_per_sm);
  if (needs.shared_bytes > static_cast<std::uint32_t>(machine.max_shared_bytes_per_block)) {
    return too_many("bytes of shared memory", needs.shared_bytes, machine.max_shared_bytes_per_block);
  }
  const std::int64_t shared =
      round_up(static_cast<std::int64_t>(needs.shared_bytes) + machine.reserved_shared_bytes_per_block,
               machine.shared_allocation_bytes);
  std::int64_t blocks = std::min<std::int64_t>(machine.max_blocks_per_sm, machine.max_threads_per_sm / kWarp / warps);
  if (registers > 0) blocks = std::min(blocks, machine.registers_per_sm / registers);
  if (shared > 0) blocks = std::min(blocks, machine.shared_bytes_per_sm / shared);
  if (blocks < 1) return too_many("bytes of shared memory", shared, machine.shared_bytes_per_sm);
  return Occupancy{static_cast<int>(blocks),
                   static_cast<double>(blocks * warps) / static_cast<double>(machine.max_threads_per_sm / kWarp),
                   blocks * shared};
}

std::int64_t l1_bytes_beside(const Machine& machine, std::int64_t shared_bytes) {
  // CUDA C++ Programming Guide, compute capabilities 8.0 to 9.0, "Shared Memory".
  constexpr std::int64_t kCarveOutKib[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  std::int64_t carved = machine.shared_bytes_per_sm;
  for (const std::int64_t kib : kCarveOutKib) {
    if (kib * 1024 < shared_bytes) continue;
    carved = std::min(carved, kib * 1024);
    break;
  }
  const std::int64_t set_bytes = machine.l1_ways * kLineBytes;
  const std::int64_t left = std::min<std::int64_t>(machine.l1_bytes, machine.l1_shared_bytes - carved);
  return std::max(left / set_bytes, std::int64_t{1}) * set_bytes;
}

}  // namespace roofwalk::vgpu
