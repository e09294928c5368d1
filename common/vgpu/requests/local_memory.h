// Requests to local memory: bounds, and the interleaved layout that makes them coalesce.
#pragma once

#include <cstdint>

#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/unset_loads.h"

namespace roofwalk::vgpu {

// Checks bounds and alignment in local memory, which includes .param locals. Turns generic addresses into offsets.
// False if a fault was recorded.
bool check_local(Launch& launch, const Warp& warp, const Op* op, Access& access, const char* verb);
// For the sanitizer. forget_local marks bytes of the warp's local memory as unwritten; define_local marks the bytes of
// a store as written. find_unset_local finds the bits that a load fills in of which nobody has set the value, and
// returns whether there are any; else `unset` stays as it is.
void forget_local(const Launch& launch, Warp& warp, std::uint32_t first, std::uint32_t bytes);
bool find_unset_local(const Launch& launch, const Warp& warp, const Op* op, const Access& access, PartBits& unset);
// Marks what a store leaves of UnsetValues::stored.
void store_unset_local(const Launch& launch, Warp& warp, const Op* op, const Access& access);
void define_local(const Launch& launch, Warp& warp, const Access& access);
// Counts the request word by word, like requests to global memory: the i-th words of all lanes are contiguous.
void count_local(Launch& launch, const Warp& warp, const Op* op, const Access& access, bool store);
// Copies between the interleaved words and one buffer of 16 bytes per lane.
void gather_local(const Warp& warp, const Access& access, std::uint8_t (&bytes)[kWarpSize][16]);
void scatter_local(const Warp& warp, const Access& access, const std::uint8_t (&bytes)[kWarpSize][16]);

// Executes a load or store of local memory; `move(pointers)` moves the lanes' bytes from or to registers.
template <bool store, class Move>
const Op* access_local(Launch& launch, Warp& warp, const Op* op, Access& access, bool counted, Move&& move) {
  if (!check_local(launch, warp, op, access, store ? "writes" : "reads")) return nullptr;
  if (counted) count_local(launch, warp, op, access, store);
  PartBits unset;
  bool is_unset = false;
  if constexpr (store) {
    define_local(launch, warp, access);
    if (warp.unset != nullptr) store_unset_local(launch, warp, op, access);
  } else {
    is_unset = find_unset_local(launch, warp, op, access, unset);
  }
  alignas(16) std::uint8_t bytes[kWarpSize][16];
  if constexpr (!store) gather_local(warp, access, bytes);
  Pointers at;
  for (int l = 0; l < kWarpSize; ++l) at.lane[l] = bytes[l];
  move(at);
  if constexpr (store) scatter_local(warp, access, bytes);
  const Op* const next = after_memory(launch, warp, op);
  return is_unset ? mark_unset(launch, warp, op, access, unset, UnsetOrigin::Where::local, next) : next;
}

}  // namespace roofwalk::vgpu
