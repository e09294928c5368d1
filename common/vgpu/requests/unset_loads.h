// Loads and stores of values that nobody has written (state/unset_values.h).
#pragma once

#include <array>
#include <cstdint>

#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/state/unset_values.h"

namespace roofwalk::vgpu {

// By part of the data of a load, and by lane: the bits that nobody has set.
struct PartBits {
  std::array<std::array<std::uint64_t, kWarpSize>, UnsetValues::kMostParts> of;
  std::uint32_t copied = 0;  // lanes in which they were stored, unset as they were

  std::array<std::uint64_t, kWarpSize>& operator[](std::size_t part) { return of[part]; }
  const std::array<std::uint64_t, kWarpSize>& operator[](std::size_t part) const { return of[part]; }
};

// The lowest `bytes` bytes, at most eight, of a word.
constexpr std::uint64_t all_bits(std::size_t bytes) { return bytes >= 8 ? ~0ull : (1ull << 8 * bytes) - 1; }

// Reports that a value is used that a load has found unset. `verb`: what the load does.
void report_unset(Launch& launch, const Warp& warp, const UnsetOrigin& from, const char* verb = "reads");

// Returns the number of registers that a load or store moves.
std::size_t part_count(const ptx::Instruction& in);

inline UnsetOrigin origin_of(const Access& access, const Op* op, int lane, UnsetOrigin::Where where, bool is_copy) {
  return {op, where, is_copy, static_cast<std::uint8_t>(lane), access.bytes, access.of(lane)};
}

// Of what a lane gets by a shuffle from another, with this mask of its own.
inline UnsetOrigin origin_of_shuffled(const Warp& warp, const Op* op, int lane, int from, std::uint32_t mask) {
  const auto thread = warp.index * kWarpSize + static_cast<std::uint32_t>(from);
  const bool has_ended = (mask & ~warp.mask) >> from & 1u;
  return {.load = op,
          .where = has_ended ? UnsetOrigin::Where::ended_lane : UnsetOrigin::Where::other_lane,
          .lane = static_cast<std::uint8_t>(lane),
          .offset = std::uint64_t{mask} << 32 | thread};
}

// What a store of such a value is for those who find it; and whether a shuffle got it.
Launch::UnsetStore unset_store(const Launch& launch, const Warp& warp, const UnsetOrigin& from);
bool has_shuffled(const Launch& launch, const UnsetOrigin& from);

// Makes Warp::unset, if it is not there.
UnsetValues& unset_values(const Launch& launch, Warp& warp);
// Marks the registers of a load in which it has found bits that nobody has set. `next`: what the load's handler would
// return. Returns what it shall return.
const Op* mark_unset(const Launch& launch, Warp& warp, const Op* op, const Access& access, const PartBits& unset,
                     UnsetOrigin::Where where, const Op* next);
// Global memory. store_unset_global: marks what a store leaves of UnsetValues::stored. find_unset_global: marks the
// registers of a load; an instruction of another kind uses what it finds, except that an asynchronous copy marks shared
// memory (copy_unset_shared()). False after a fault.
void store_unset_global(Launch& launch, const Warp& warp, const Op* op, const Access& access);
bool find_unset_global(Launch& launch, Warp& warp, const Op* op, const Access& access, const char* verb);
// Where a warp continues after a load that may have marked registers: `next`, or the detour.
inline const Op* detour_if_unset(Warp& warp, const Op* next) {
  if (next == nullptr || warp.unset == nullptr) return next;
  warp.unset->next = next;
  return &warp.unset->detour;
}

}  // namespace roofwalk::vgpu
