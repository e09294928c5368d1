// Loads of constant memory: one pass for each distinct word, through the constant caches to L2.
#include <algorithm>
#include <bit>
#include <optional>

#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {

void count_constants(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  if (!launch.counts) return;
  constexpr std::uint32_t kWidest = 8;
  Multiprocessor& sm = *launch.sm;
  ConstantCache& constants = sm.constants;
  const std::uint32_t width = std::min(access.bytes, kWidest);
  std::uint64_t passes = 0, misses = 0, from_l2 = 0;
  std::optional<std::uint64_t> arriving;  // a line that the second cache fetched in this round
  const auto pass = [&](std::uint64_t place) {
    ++passes;
    const ConstantCache::Level level = constants.read(place);
    if (level == ConstantCache::Level::first && warp.trace == nullptr) return;
    misses += level != ConstantCache::Level::first;
    if (level == ConstantCache::Level::l2) {
      ++from_l2;
      const std::uint64_t first = place / constants.line_bytes() * constants.line_bytes();
      for (std::uint64_t at = first; at < first + constants.line_bytes(); at += kLineBytes)
        sm.l2_log.read((Memory::kConstantBase + at) / kLineBytes, 0xf);
    }
    if (!arriving && constants.came_this_round(place)) arriving = place / constants.line_bytes();
  };
  const auto place_of = [](std::uint64_t address) { return address % Memory::kConstantBankBytes; };
  // A request of 16 bytes per lane counts as two loads of 8.
  for (std::uint32_t part = 0; part < access.bytes; part += width) {
    if (access.uniform) {
      pass(place_of(access.low + part));
      continue;
    }
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
      const std::uint64_t place = place_of(access.of(std::countr_zero(left)) + part);
      if (constants.mark(place / 4)) pass(place);
    }
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1)
      constants.unmark(place_of(access.of(std::countr_zero(left)) + part) / 4);
  }
  const auto end_request = [&](L2Log::Kind kind) {
    sm.l2_log.end_request(kind, op->pc, warp.trace, warp.first_outcome + op->memory);
  };
  const std::uint64_t sectors = from_l2 * (constants.line_bytes() / kSectorBytes);
  InstructionCounters& site = launch.sites[op->pc];
  site.requests += access.bytes / width;
  site.wavefronts += passes;
  site.conflicts += misses;
  site.bytes += passes * std::max<std::uint32_t>(width, 4);
  site.l2_read_sectors += sectors;
  sm.constant_passes += passes;
  launch.charge(passes * work::kConstantPass);
  if (sectors != 0) end_request(L2Log::Kind::load);
  if (warp.trace == nullptr) return;
  Outcome& outcome = warp.outcome(op);
  add_to(outcome.lines, passes);
  add_to(outcome.wavefronts, misses);
  add_to(outcome.l2_read_sectors, sectors);
  if (!arriving) return;
  const std::uint64_t line = (Memory::kConstantBase + *arriving * constants.line_bytes()) / kLineBytes;
  outcome.line = static_cast<std::uint16_t>(mix(line));
  if (sectors == 0) {
    sm.l2_log.read(line, 0);
    end_request(L2Log::Kind::arriving);
  }
}

}  // namespace roofwalk::vgpu
