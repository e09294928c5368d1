// Fast path of global loads in lockstep: which loads qualify, and what they count.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/memory/sectors.h"
#include "common/vgpu/requests/global_flow.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// Whether a load qualifies for the fast path: it is in the buffer that the instruction accessed last, aligned and not
// recorded (global_flow.h); this SM has not stored to its bytes in this round; and, in sanitized runs, its bytes are
// known to be defined, and not to be stored if the load is not coherent.
inline bool is_usual(const Launch& launch, const Warp& warp, const Op* op, std::uint64_t low, std::uint64_t end,
                     std::uint64_t bits, std::uint32_t bytes) {
  const BufferMemo& memo = launch.buffer_memos[op->pc];
  return low >= memo.low && end <= memo.high && low < end && (bits & (bytes - 1)) == 0 &&
         !records_global_flow(launch, warp) && !launch.sm->stores.may_hold(low, end) &&
         (!launch.sanitized || launch.memory.surely_defined(low, end - low, op->non_coherent));
}

// Adds the counts of a load of `lines` lines, `sectors` sectors and `wavefronts` wavefronts of L1. `bytes`: of all
// lanes. `missed`: how many of these sectors missed L1.
inline void add_load(Launch& launch, const Op* op, std::uint64_t lines, std::uint64_t sectors, std::uint64_t bytes,
                     std::uint64_t wavefronts, std::uint64_t missed) {
  Multiprocessor& sm = *launch.sm;
  InstructionCounters& site = launch.sites[op->pc];
  ++site.requests;
  site.add_sectors(sectors, fewest_sectors(bytes, sectors), true);
  site.lines += lines;
  site.hit_sectors += sectors - missed;
  sm.l1_lines += lines;
  sm.l1_wavefronts += wavefronts;
  if (missed == 0) {
    ++site.served_by_l1;
  } else {
    site.l2_read_sectors += missed;
    sm.l1.end_fetch();
    sm.l2_log.end_request(L2Log::Kind::load, op->pc, nullptr, 0);
  }
}

// Reads sectors of a line from L1, or from L2 where they miss L1. Returns the number of sectors that miss L1.
inline std::uint64_t read_line(Multiprocessor& sm, std::uint64_t line, unsigned sectors) {
  const unsigned missing = sm.l1.read(line, sectors);
  if (missing == 0) return 0;
  sm.l2_log.read(line, missing);
  return static_cast<std::uint64_t>(std::popcount(missing));
}

// Counts a load, through L1, of the `lines` lines from `line` on, with `total` sectors. `from_first` and `to_last`:
// masks of the sectors in the first and the last line. `bytes`: per lane.
inline void count_lines(Launch& launch, const Op* op, std::uint64_t line, std::uint64_t lines, unsigned from_first,
                        unsigned to_last, std::uint64_t total, std::uint32_t bytes) {
  std::uint64_t missed = 0;
  for (std::uint64_t i = 0; i < lines; ++i) {
    missed += read_line(*launch.sm, line + i, 0xfu & (i == 0 ? from_first : 0xfu) & (i + 1 == lines ? to_last : 0xfu));
  }
  add_load(launch, op, lines, total, kWarpSize * bytes, std::max(bytes / 4, 1u), missed);
}

// Lockstep loads (lockstep.h) on the fast path. Each function counts the load and returns the host address of its data;
// nullptr: the load does not qualify, and nothing has been done.

// Loads of `bytes` bytes from one address for all lanes.
template <std::uint32_t bytes>
inline const std::uint8_t* find_uniform(Launch& launch, const Warp& warp, const Op* op) {
  const std::uint64_t address = first_address(warp, op);
  if (warp.mask != kAllLanes || !is_usual(launch, warp, op, address, address + bytes, address, bytes)) return nullptr;
  if (launch.counts) {
    const unsigned sector = 1u << (address / kSectorBytes % 4);
    count_lines(launch, op, address / kLineBytes, 1, sector, sector, 1, bytes);
  }
  const BufferMemo& memo = launch.buffer_memos[op->pc];
  return memo.data + (address - memo.low);
}

// Loads of `bytes` bytes per lane from adjacent addresses.
template <std::uint32_t bytes>
inline const std::uint8_t* find_contiguous(Launch& launch, const Warp& warp, const Op* op) {
  const std::uint64_t low = first_address(warp, op), end = low + kWarpSize * bytes;
  if (warp.mask != kAllLanes || !is_usual(launch, warp, op, low, end, low, bytes)) return nullptr;
  if (launch.counts) {
    const std::uint64_t line = low / kLineBytes, last = end - 1;
    count_lines(launch, op, line, last / kLineBytes - line + 1, 0xfu << (low / kSectorBytes % 4),
                (2u << (last / kSectorBytes % 4)) - 1, last / kSectorBytes - low / kSectorBytes + 1, bytes);
  }
  const BufferMemo& memo = launch.buffer_memos[op->pc];
  const std::uint8_t* const from = memo.data + (low - memo.low);
  // Prefetches what the next warp of the block will most likely load.
  for (std::uint32_t ahead = 0; ahead < kWarpSize * bytes; ahead += 64)
    __builtin_prefetch(from + kWarpSize * bytes + ahead);
  return from;
}

// Counts a load where each group of eight lanes reads one sector. Not inlined, to save stack space in runs that count
// nothing.
[[gnu::noinline]] inline void count_eights(Launch& launch, const Op* op, std::uint64_t first,
                                           const LaneOffsets& offsets) {
  std::uint64_t lines[kWarpSize / 8];
  unsigned sectors[kWarpSize / 8], total = 0;
  int count = 0;
  for (std::size_t l = 0; l < kWarpSize; l += 8) {
    const std::uint64_t address = first + offsets.of_lane[l], line = address / kLineBytes;
    const unsigned sector = 1u << (address / kSectorBytes % 4);
    int i = 0;
    while (i < count && lines[i] != line) ++i;
    if (i == count) lines[i] = line, sectors[i] = 0, ++count;
    total += (sectors[i] & sector) == 0;
    sectors[i] |= sector;
  }
  std::uint64_t missed = 0;
  for (int i = 0; i < count; ++i) missed += read_line(*launch.sm, lines[i], sectors[i]);
  add_load(launch, op, static_cast<std::uint64_t>(count), total, kWarpSize * 4, offsets.word_wavefronts, missed);
}

// The byte range of a load of `bytes` per lane; `first`: lane 0's address.
struct Reach {
  std::uint64_t first, low, end;
};
inline Reach reach_of(const Warp& warp, const Op* op, const LaneOffsets& offsets, std::uint32_t bytes) {
  const std::uint64_t first = first_address(warp, op);
  return {first, first + static_cast<std::uint64_t>(offsets.low),
          first + static_cast<std::uint64_t>(offsets.high) + bytes};
}

// Loads of a word per lane, with the words of each group of eight lanes in one sector. Returns the host address of lane
// 0's word; other lanes' words are as far from it as on the device.
inline const std::uint8_t* find_eights(Launch& launch, const Warp& warp, const Op* op) {
  constexpr std::uint32_t kBytes = 4;
  const LaneOffsets& offsets = launch.program.lockstep.lane_offsets[op->lane_offsets];
  const auto [first, low, end] = reach_of(warp, op, offsets, kBytes);
  if (low > first || end <= first || first % kSectorBytes != 0 || warp.mask != kAllLanes ||
      !is_usual(launch, warp, op, low, end, first, kBytes))
    return nullptr;
  if (launch.counts) count_eights(launch, op, first, offsets);
  BufferMemo& memo = launch.buffer_memos[op->pc];
  // Prefetches the row that lies kAhead strides ahead: warps proceed from row to row with a constant stride.
  constexpr std::uint64_t kAhead = 5;
  const std::uint64_t ahead = first + kAhead * (first - std::exchange(memo.last, first));
  for (std::size_t l = 0; l < kWarpSize; l += 16)
    __builtin_prefetch(memo.data + (ahead + offsets.of_lane[l] - memo.low));
  return memo.data + (first - memo.low);
}

// Loads of a word per lane, at the same offset in 32 lines with a constant stride. One lookup tells whether L1 has all
// 32 lines. Returns the address of contiguous copies of the words (SectorCopies). If there are no copies, the load does
// not qualify.
inline const std::uint8_t* find_rows(Launch& launch, const Warp& warp, const Op* op) {
  constexpr std::uint32_t kBytes = 4;
  const LaneOffsets& offsets = launch.program.lockstep.lane_offsets[op->lane_offsets];
  const auto [first, low, end] = reach_of(warp, op, offsets, kBytes);
  const SectorCopies& copies = launch.sector_copies;
  const std::uint64_t offset = first % kSectorBytes;
  if (copies.first != first - offset || copies.stride != offsets.stride || copies.round != launch.round ||
      (copies.gathered >> (offset / kBytes) & 1u) == 0 || !launch.stores_wait || warp.mask != kAllLanes ||
      !is_usual(launch, warp, op, low, end, first, kBytes))
    return nullptr;
  if (launch.counts) {
    const unsigned sector = 1u << (first / kSectorBytes % 4);
    if (!launch.sm->l1.read_again(first / kLineBytes, offsets.stride / kLineBytes, sector)) return nullptr;
    add_load(launch, op, kWarpSize, kWarpSize, kWarpSize * kBytes, offsets.word_wavefronts, 0);
  }
  return reinterpret_cast<const std::uint8_t*>(copies.words[offset / kBytes]);
}

}  // namespace roofwalk::vgpu
