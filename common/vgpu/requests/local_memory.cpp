#include "common/vgpu/requests/local_memory.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace roofwalk::vgpu {
namespace {

bool active(const Access& access, int lane) { return (access.mask >> lane & 1u) != 0; }

}  // namespace

bool check_local(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb) {
  if (access.low >= kLocalWindow) {
    for (std::uint64_t& address : access.address) address -= kLocalWindow;
  }
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) {
      access.address[l] = access.address[std::countr_zero(access.mask)];
      continue;
    }
    const std::uint64_t extent = launch.program.local_bytes;
    const bool inside = access.address[l] < extent && access.bytes <= extent - access.address[l];
    if (inside && access.address[l] % access.bytes == 0) continue;
    launch.stop(warp, op, inside ? FaultKind::misaligned : FaultKind::out_of_bounds, l,
                fmt::format("{}: {} {} bytes at byte {} of the thread's local memory, which has {} bytes",
                            inside ? "misaligned" : "out of bounds", verb, access.bytes, access.address[l],
                            launch.program.local_bytes));
    launch.fault->buffer = "local memory";
    return false;
  }
  return true;
}

void forget_local(const Launch& launch, Warp& warp, std::uint32_t first, std::uint32_t bytes) {
  if (!launch.sanitized || launch.program.local_bytes == 0) return;
  warp.local_written.resize(launch.program.local_bytes);
  std::fill_n(warp.local_written.begin() + first, bytes, 0u);
  if (!warp.local_unset.empty()) std::fill_n(warp.local_unset.begin() + first, bytes, 0u);
}

namespace {

// Whether a byte that a lane loads holds no value. Parameters of calls count as written, unless such a value was stored
// there.
bool is_unset(const Warp& warp, std::uint64_t byte, int lane, bool is_parameter) {
  const bool is_written = is_parameter || (warp.local_written[byte] >> lane & 1u) != 0;
  return !is_written || (!warp.local_unset.empty() && (warp.local_unset[byte] >> lane & 1u) != 0);
}

}  // namespace

bool find_unset_local(const Launch& launch, const Warp& warp, const Op* op, const Access& access, PartLanes& unset) {
  const bool is_parameter = op->instruction->space == ptx::Space::param;
  if (!launch.sanitized || (is_parameter && warp.local_unset.empty())) return false;
  const std::size_t parts = part_count(*op->instruction), bytes = access.bytes / parts;
  bool any = false;
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::uint64_t first = access.address[l] + part * bytes;
      std::uint64_t byte = first;
      while (byte < first + bytes && is_unset(warp, byte, l, is_parameter)) ++byte;
      if (byte < first + bytes) continue;
      unset[part] |= 1u << l;
      any = true;
    }
  }
  return any;
}

void store_unset_local(const Launch& launch, Warp& warp, const Op* op, const Access& access) {
  const std::size_t parts = part_count(*op->instruction), bytes = access.bytes / parts;
  warp.local_unset.resize(launch.program.local_bytes);
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::size_t part = 0; part < parts; ++part) {
      if ((warp.unset->stored[part] >> l & 1u) == 0) continue;
      for (std::size_t b = 0; b < bytes; ++b) warp.local_unset[access.address[l] + part * bytes + b] |= 1u << l;
    }
  }
}

void pass_unset_local(Warp& warp, std::uint32_t from, std::uint32_t to, std::uint32_t bytes, std::uint32_t lanes) {
  for (std::uint32_t b = 0; b < bytes; ++b) {
    const std::uint32_t passed = from == kNoLocal ? 0 : warp.local_unset[from + b] & lanes;
    warp.local_unset[to + b] = (warp.local_unset[to + b] & ~lanes) | passed;
  }
}

void report_unset_local(Launch& launch, const Warp& warp, const Op* op, int lane, std::uint64_t offset,
                        std::uint32_t bytes) {
  launch.stop(
      warp, op, FaultKind::uninitialized, lane,
      fmt::format("uninitialized: reads {} bytes of a local array (byte {} of the thread's local memory) that the "
                  "thread has not written: give it a value first",
                  bytes, offset));
  launch.fault->buffer = "local memory";
}

bool check_local_defined(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  PartLanes unset{};
  if (!find_unset_local(launch, warp, op, access, unset)) return true;
  std::uint32_t lanes = kAllLanes;
  for (std::size_t part = 0; part < part_count(*op->instruction); ++part) lanes &= unset[part];
  if (lanes == 0) return true;
  const int lane = std::countr_zero(lanes);
  report_unset_local(launch, warp, op, lane, access.address[lane], access.bytes);
  return false;
}

void hold_load(Warp& warp, const Op* op, const Access& access, bool is_local) {
  const std::size_t number = op->target;
  if (number >= warp.held_loads.size()) warp.held_loads.resize(number + 1);
  HeldLoad& held = warp.held_loads[number];
  if (op->next_block == 0) {  // other blocks take it up, maybe for lanes that loaded earlier
    held.op = op, held.is_local = is_local, held.bytes = access.bytes;
    held.lanes[0] |= access.mask;
    for (int l = 0; l < kWarpSize; ++l) {
      if ((access.mask >> l & 1u) != 0) held.address[static_cast<std::size_t>(l)] = access.of(l);
    }
    return;
  }
  held = {.op = op, .is_local = is_local, .bytes = access.bytes};
  for (std::size_t l = 0; l < kWarpSize; ++l) held.address[l] = access.of(static_cast<int>(l));
  for (std::size_t way = 0; way < held.lanes.size(); ++way)
    held.lanes[way] = (op->next_block >> way & 1u) != 0 ? access.mask : 0;
}

void define_local(const Launch& launch, Warp& warp, const Access& access) {
  if (!launch.sanitized) return;
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::uint32_t b = 0; b < access.bytes; ++b) warp.local_written[access.address[l] + b] |= 1u << l;
    if (warp.local_unset.empty()) continue;
    for (std::uint32_t b = 0; b < access.bytes; ++b) warp.local_unset[access.address[l] + b] &= ~(1u << l);
  }
}

void count_local(Launch& launch, const Warp& warp, const Op* op, const Access& access, bool store) {
  if (!launch.counts) return;
  const std::uint64_t words = (launch.program.local_bytes + 3) / 4;
  const std::uint64_t base =
      kLocalPhysical + (static_cast<std::uint64_t>(launch.sm->index) << 36) + warp.slot * words * 4 * kWarpSize;
  const std::uint32_t piece = std::min<std::uint32_t>(access.bytes, 4);
  for (std::uint32_t at = 0; at < access.bytes; at += piece) {
    alignas(64) std::uint64_t words_of[kWarpSize];
    for (int l = 0; l < kWarpSize; ++l) {
      const std::uint64_t offset = access.address[l] + at;
      const int lane = active(access, l) ? l : std::countr_zero(access.mask);
      words_of[l] = base + offset / 4 * 4 * kWarpSize + static_cast<std::uint64_t>(lane) * 4 + offset % 4;
    }
    Access words_access;
    make_access(words_of, access.mask, piece, words_access);
    store ? count_store(launch, warp, op, words_access) : count_load(launch, warp, op, words_access);
  }
}

void gather_local(const Warp& warp, const Access& access, std::uint8_t (&bytes)[kWarpSize][16]) {
  for (int l = 0; l < kWarpSize; ++l) {
    for (std::uint32_t i = 0; i < access.bytes; ++i) {
      const std::uint64_t offset = access.address[l] + i;
      bytes[l][i] = warp.local[(offset / 4 * kWarpSize + static_cast<std::uint64_t>(l)) * 4 + offset % 4];
    }
  }
}

void scatter_local(const Warp& warp, const Access& access, const std::uint8_t (&bytes)[kWarpSize][16]) {
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::uint32_t i = 0; i < access.bytes; ++i) {
      const std::uint64_t offset = access.address[l] + i;
      warp.local[(offset / 4 * kWarpSize + static_cast<std::uint64_t>(l)) * 4 + offset % 4] = bytes[l][i];
    }
  }
}

}  // namespace roofwalk::vgpu
