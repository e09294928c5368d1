#include "common/vgpu/timing/occupancy.h"

#include <algorithm>

#include <fmt/format.h>

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
                   static_cast<double>(blocks * warps) / static_cast<double>(machine.max_threads_per_sm / kWarp)};
}

}  // namespace roofwalk::vgpu
