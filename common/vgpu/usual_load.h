// Loads of global memory that need not be looked at closely: whether one is of them, and what it counts.
#pragma once

#include <bit>
#include <cstdint>

#include "common/vgpu/launch.h"

namespace roofwalk::vgpu {

// A load that finds everything as it nearly always is: within the buffer of the last time, aligned, not stored to in
// this round, not traced.
inline bool is_usual(const Launch& launch, const Warp& warp, const Op* op, std::uint64_t low, std::uint64_t end,
                     std::uint64_t bits, std::uint32_t bytes) {
  const BufferMemo& memo = launch.buffer_memos[op->pc];
  return low >= memo.low && end <= memo.high && low < end && (bits & (bytes - 1)) == 0 && warp.trace == nullptr &&
         !launch.sm->stores.may_hold(low, end) && (!launch.sanitized || launch.memory.surely_defined(low, end - low));
}

// The counts of a load of `lines` lines and `sectors` sectors, of which L1 lacked `missed`.
inline void add_load(Launch& launch, const Op* op, std::uint64_t lines, std::uint64_t sectors, std::uint64_t missed) {
  Multiprocessor& sm = *launch.sm;
  Site& site = launch.sites[op->pc];
  ++site.requests;
  site.sectors += sectors;
  site.lines += lines;
  site.hit_sectors += sectors - missed;
  sm.l1_lines += lines;
  sm.l1_sectors += sectors;
  if (missed == 0) {
    ++site.served_by_l1;
  } else {
    site.l2_read_sectors += missed;
    sm.l2_log.end_request(L2Log::Kind::load, op->pc, nullptr, 0);
  }
}

// Asks L1 for sectors of a line, and L2 for what is missing: how many those are.
inline std::uint64_t read_line(Multiprocessor& sm, std::uint64_t line, unsigned sectors) {
  const unsigned missing = sm.l1.read(line, sectors);
  if (missing == 0) return 0;
  sm.l2_log.read(line, missing);
  return static_cast<std::uint64_t>(std::popcount(missing));
}

}  // namespace roofwalk::vgpu
