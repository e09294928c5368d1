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
  if (!warp.local_unset.empty())
    std::fill_n(warp.local_unset.begin() + std::size_t{first} * kWarpSize, std::size_t{bytes} * kWarpSize,
                std::uint8_t{0});
}

namespace {

std::uint8_t& stored_unset(Warp& warp, std::uint64_t byte, int lane) {
  return warp.local_unset[byte * kWarpSize + static_cast<std::uint64_t>(lane)];
}

// The bits of a byte of a lane that hold no value. Parameters of calls count as written, unless such a value was
// stored there.
std::uint8_t unset_bits(const Warp& warp, std::uint64_t byte, int lane, bool is_parameter) {
  if (!is_parameter && (warp.local_written[byte] >> lane & 1u) == 0) return 0xff;
  return warp.local_unset.empty() ? std::uint8_t{0}
                                  : warp.local_unset[byte * kWarpSize + static_cast<std::uint64_t>(lane)];
}

// Whether all bytes that a load finds were written, and with values.
bool all_set(const Warp& warp, const Access& access, bool is_parameter) {
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::uint8_t unset = 0;
    for (std::uint32_t b = 0; b < access.bytes; ++b)
      unset |= unset_bits(warp, access.address[lane] + b, lane, is_parameter);
    if (unset != 0) return false;
  }
  return true;
}

}  // namespace

bool find_unset_local(const Launch& launch, const Warp& warp, const Op* op, const Access& access, PartBits& unset) {
  const bool is_parameter = op->instruction->space == ptx::Space::param;
  if (!launch.sanitized || (is_parameter && warp.local_unset.empty()) || all_set(warp, access, is_parameter))
    return false;
  const std::size_t parts = part_count(*op->instruction), bytes = access.bytes / parts;
  for (int l = 0; l < kWarpSize; ++l) {
    for (std::size_t part = 0; part < parts; ++part) {
      std::uint64_t& bits = unset[part][static_cast<std::size_t>(l)] = 0;
      if (!active(access, l)) continue;
      for (std::size_t b = 0; b < bytes; ++b) {
        const std::uint64_t byte = access.address[l] + part * bytes + b;
        const std::uint8_t own = unset_bits(warp, byte, l, is_parameter);
        bits |= std::uint64_t{own} << 8 * b;
        if (own != 0 && (is_parameter || (warp.local_written[byte] >> l & 1u) != 0)) unset.copied |= 1u << l;
      }
    }
  }
  return true;
}

void store_unset_local(const Launch& launch, Warp& warp, const Op* op, const Access& access) {
  const std::size_t parts = part_count(*op->instruction), bytes = access.bytes / parts;
  for (std::size_t part = 0; part < warp.unset->stored.size(); ++part) {
    const UnsetRegister& stored = warp.unset->stored[part];
    if ((stored.lanes() & access.mask) == 0) continue;
    warp.local_unset.resize(std::size_t{launch.program.local_bytes} * kWarpSize);
    for (std::uint32_t left = stored.lanes() & access.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      for (std::size_t b = 0; b < bytes; ++b)
        stored_unset(warp, access.address[lane] + part * bytes + b, lane) =
            static_cast<std::uint8_t>(stored.bits(lane) >> 8 * b);
    }
  }
}

void define_local(const Launch& launch, Warp& warp, const Access& access) {
  if (!launch.sanitized) return;
  for (int l = 0; l < kWarpSize; ++l) {
    if (!active(access, l)) continue;
    for (std::uint32_t b = 0; b < access.bytes; ++b) warp.local_written[access.address[l] + b] |= 1u << l;
    if (warp.local_unset.empty()) continue;
    for (std::uint32_t b = 0; b < access.bytes; ++b) stored_unset(warp, access.address[l] + b, l) = 0;
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
