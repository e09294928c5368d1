#include "common/vgpu/requests/coalescer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "common/vgpu/memory/sectors.h"
#include "common/vgpu/requests/bounds_check.h"
#include "common/vgpu/requests/global_flow.h"
#include "common/vgpu/requests/ideal_sectors.h"
#include "common/vgpu/requests/l1_wavefronts.h"
#include "common/vgpu/requests/read_only_loads.h"
#include "common/vgpu/requests/unset_loads.h"

namespace roofwalk::vgpu {
namespace {

unsigned sector_of(std::uint64_t address) { return static_cast<unsigned>(address / kSectorBytes % 4); }

void end_request(Multiprocessor& sm, const Warp& warp, const Op* op, L2Log::Kind kind) {
  sm.l2_log.end_request(kind, op->pc, warp.trace, warp.first_outcome + op->memory);
}

// Records that a traced load waits for this fetch, which was made by a warp of the same block.
void note_found(Multiprocessor& sm, const Warp& warp, const Op* op, const Fetch& fetch) {
  std::vector<Found>& all = warp.trace->found;
  const Found found{static_cast<std::uint32_t>(warp.first_outcome + op->memory), fetch.warp, fetch.outcome};
  for (auto at = all.rbegin(); at != all.rend() && at->outcome == found.outcome; ++at) {
    if (*at == found) return;
  }
  all.push_back(found);
  sm.traced.bytes += sizeof found;
}

// Records which fetches a traced load through L1 waits for, besides its own requests. For a fetch by the load's own
// block, the timing model knows when it ends. A fetch by another block, which may be untraced, is assumed to be in
// flight for as long as is possible.
void note_arrival(Multiprocessor& sm, const Warp& warp, const Op* op, Access& access, std::uint64_t missed,
                  Outcome& outcome) {
  access.spell_out_lines();
  for (int i = 0; i < access.lines; ++i) {
    const std::uint32_t number = sm.l1.fetch_of(access.line[i]);
    const Fetch* const fetch = sm.fetches.find(number);
    const bool is_own = fetch != nullptr && fetch->block == warp.block->linear_index;
    const auto own_outcome = warp.first_outcome + op->memory;
    if (is_own && (fetch->warp != warp.index || fetch->outcome != own_outcome)) note_found(sm, warp, op, *fetch);
    const bool is_mine = is_own && missed == 0;
    if (is_mine || outcome.line != 0 || !sm.fetches.may_arrive(number, sm.l1.fetch())) continue;
    outcome.line = static_cast<std::uint16_t>(mix(sm.l1.frame_of(access.line[i])));
    if (missed == 0) {
      sm.l2_log.read(access.line[i], 0);
      end_request(sm, warp, op, L2Log::Kind::arriving);
    }
  }
}

// Updates the counts that stores and atomics have in common.
void count_write(Launch& launch, const Warp& warp, const Op* op, const Access& access, bool reads) {
  InstructionCounters& site = launch.sites[op->pc];
  ++site.requests;
  site.add_sectors(access.total_sectors, ideal_sectors(access), reads);
  site.lines += static_cast<std::uint64_t>(access.lines);
  site.l2_write_sectors += access.total_sectors;
  const std::uint64_t wavefronts = l1_wavefronts(access);
  launch.sm->l1_lines += static_cast<std::uint64_t>(access.lines);
  launch.sm->l1_wavefronts += wavefronts;
  if (warp.trace != nullptr) {
    Outcome& outcome = warp.outcome(op);
    add_to(outcome.lines, static_cast<std::uint64_t>(access.lines));
    add_to(outcome.wavefronts, wavefronts);
    add_to(outcome.l2_write_sectors, access.total_sectors);
  }
}

// Redirects a load in which each lane reads a sector of its own, all at the same offset within the sector, to copies of
// the 32 sectors (SectorCopies).
void read_copies(Launch& launch, Access& access, Pointers& at) {
  SectorCopies& copies = launch.sector_copies;
  const std::uint64_t offset = access.first % kSectorBytes, first = access.first - offset;
  if (copies.first != first || copies.stride != access.stride || copies.round != launch.round) {
    copies.gathered = 0;
    copies.first = first;
    copies.stride = access.stride;
    copies.round = launch.round;
    const std::uint8_t* from = at.base + (first - at.low_address);
    for (int l = 0; l < kWarpSize; ++l) {
      std::memcpy(copies.bytes + l * kSectorBytes, from + static_cast<std::uint64_t>(l) * access.stride, kSectorBytes);
    }
  }
  at.low_address = 0;
  if (access.bytes != 4) {
    at.base = copies.bytes;
    access.low = access.first = offset;
    access.stride = kSectorBytes;
    return;
  }
  const std::uint64_t word = offset / 4;
  if ((copies.gathered >> word & 1u) == 0) {
    copies.gathered |= 1u << word;
    for (int l = 0; l < kWarpSize; ++l) {
      std::memcpy(&copies.words[word][l], copies.bytes + static_cast<std::uint64_t>(l) * kSectorBytes + offset, 4);
    }
  }
  at.base = reinterpret_cast<std::uint8_t*>(copies.words[word]);
  access.low = access.first = 0;
  access.stride = 4;
  access.contiguous = true;
}

// Finds the usual pattern, a constant stride between active lanes, without storing 32 addresses.
bool keep_pattern(const std::uint64_t* base, std::uint64_t offset, Access& out) {
  int from = 0, to = kWarpSize - 1;
  std::uint64_t of_lane_0 = base[0], stride = base[1] - base[0];
  if (out.mask == kAllLanes) {
    if (!has_even_steps<true>(base, out.mask, of_lane_0, stride)) return false;
  } else {
    from = std::countr_zero(out.mask);
    to -= std::countl_zero(out.mask);
    // Inactive lanes usually fit the pattern, too; if not, the stride comes from the first two active lanes.
    if (!has_even_steps<false>(base, out.mask, of_lane_0, stride)) {
      const std::uint32_t rest = out.mask & (out.mask - 1);
      if (rest == 0) return false;
      const int second = std::countr_zero(rest);
      stride = static_cast<std::uint64_t>(static_cast<std::int64_t>(base[second] - base[from]) / (second - from));
      of_lane_0 = base[from] - static_cast<std::uint64_t>(from) * stride;
      if (!has_even_steps<false>(base, out.mask, of_lane_0, stride)) return false;
    }
  }
  constexpr std::uint64_t kFar = 1ull << 32;  // longer strides are left to settle(), because they may wrap around
  const std::uint64_t first = base[from] + offset, last = base[to] + offset;
  const bool upwards = stride < kFar;
  if (!(upwards ? last >= first : 0 - stride < kFar && last < first)) return false;
  out.implied = true;
  out.first = of_lane_0 + offset;
  out.stride = stride;
  out.bits = out.first | stride;
  out.low = upwards ? first : last;
  out.high = upwards ? last : first;
  out.uniform = first == last;
  out.contiguous = stride == out.bytes && out.mask == kAllLanes;
  return true;
}

// Gives inactive lanes the address of an active lane, and finds the pattern.
void settle(Access& out) {
  if (out.mask != kAllLanes) {
    const std::uint64_t some = out.address[std::countr_zero(out.mask)];
    for (int l = 0; l < kWarpSize; ++l) out.address[l] = (out.mask >> l & 1u) != 0 ? out.address[l] : some;
  }
  std::uint64_t low = ~0ull, high = 0, gap = 0, bits = 0;
  const std::uint64_t first = out.address[0];
  for (int l = 0; l < kWarpSize; ++l) {
    const std::uint64_t a = out.address[l];
    bits |= a;
    low = a < low ? a : low;
    high = a > high ? a : high;
    gap |= a ^ (first + static_cast<std::uint64_t>(l) * out.bytes);
  }
  out.bits = bits;
  out.low = low;
  out.high = high;
  out.uniform = low == high;
  out.contiguous = gap == 0 && out.mask == kAllLanes;
}

}  // namespace

void make_access(const Warp& warp, std::uint32_t mask, Slot at, std::int64_t signed_offset, bool wide_address,
                 std::uint32_t bytes, Access& out) {
  out.mask = mask;
  out.bytes = bytes;
  out.implied = false;
  const auto offset = static_cast<std::uint64_t>(signed_offset);
  if (at == kNoSlot) {
    out.low = out.high = out.first = out.bits = offset;
    out.stride = 0;
    out.uniform = out.implied = true;
    out.contiguous = false;
    return;
  }
  if (wide_address && keep_pattern(warp.lanes<std::uint64_t>(at), offset, out)) return;
  if (wide_address) {
    const auto* base = warp.lanes<std::uint64_t>(at);
    for (int l = 0; l < kWarpSize; ++l) out.address[l] = base[l] + offset;
  } else {
    const auto* base = warp.lanes<std::uint32_t>(at);
    const auto narrow = static_cast<std::uint32_t>(offset);
    for (int l = 0; l < kWarpSize; ++l) out.address[l] = static_cast<std::uint32_t>(base[l] + narrow);
  }
  settle(out);
}

void make_access(const std::uint64_t (&lanes)[kWarpSize], std::uint32_t mask, std::uint32_t bytes, Access& out) {
  out.mask = mask;
  out.bytes = bytes;
  out.implied = false;
  std::memcpy(out.address, lanes, sizeof out.address);
  settle(out);
}

namespace {

// Finds the lines and sectors of adjacent words (lane l's at first + 4 * l) if only some lanes are active.
void coalesce_row(Access& access) {
  const std::uint32_t touched = sectors_of_row(access.first, access.mask);
  const auto lower = static_cast<std::uint8_t>(touched & 0xfu), upper = static_cast<std::uint8_t>(touched >> 4);
  access.total_sectors = static_cast<std::uint64_t>(std::popcount(touched));
  access.lines = 0;
  if (lower != 0) {
    access.line[0] = access.first / kLineBytes;
    access.sectors[0] = lower;
    access.lines = 1;
  }
  if (upper != 0) {
    access.line[access.lines] = access.first / kLineBytes + 1;
    access.sectors[access.lines++] = upper;
  }
}

std::uint64_t line_of(std::uint64_t address) { return address / kLineBytes; }

// Finds the lines and sectors if all lanes are active and their addresses are adjacent.
void coalesce_contiguous(Access& access) {
  const std::uint64_t last = access.high + access.bytes - 1;
  const std::uint64_t first_line = line_of(access.low), last_line = line_of(last);
  access.lines = static_cast<int>(last_line - first_line + 1);
  access.total_sectors = last / kSectorBytes - access.low / kSectorBytes + 1;
  const unsigned from_first = 0xfu << sector_of(access.low), to_last = (2u << sector_of(last)) - 1;
  access.line[0] = first_line;
  access.sectors[0] = static_cast<std::uint8_t>((access.lines == 1 ? to_last : 0xfu) & from_first);
  for (int i = 1; i < access.lines; ++i) {
    access.line[i] = first_line + static_cast<std::uint64_t>(i);
    access.sectors[i] = static_cast<std::uint8_t>(i + 1 == access.lines ? to_last : 0xfu);
  }
}

// Finds the lines and sectors if each lane touches a different line.
void coalesce_line_a_lane(Access& access) {
  access.lines = kWarpSize;
  access.total_sectors = kWarpSize;
  if (access.stride % kLineBytes == 0) {
    access.line[0] = line_of(access.first);
    access.sectors[0] = static_cast<std::uint8_t>(1u << sector_of(access.first));
    access.line_step = static_cast<std::uint64_t>(static_cast<std::int64_t>(access.stride) / kLineBytes);
    return;
  }
  for (int l = 0; l < kWarpSize; ++l) {
    const std::uint64_t address = access.first + static_cast<std::uint64_t>(l) * access.stride;
    access.line[l] = line_of(address);
    access.sectors[l] = static_cast<std::uint8_t>(1u << sector_of(address));
  }
}

// Finds the lines and sectors of addresses that lie within two adjacent lines, by collecting one bit per sector. Most
// accesses by only some of the lanes are of this kind.
void coalesce_two_lines(Access& access, std::uint64_t base) {
  std::uint32_t touched = 0;
  for (int l = 0; l < kWarpSize; ++l)
    touched |= 1u << static_cast<std::uint32_t>((access.address[l] - base) / kSectorBytes);
  access.total_sectors = static_cast<std::uint64_t>(std::popcount(touched));
  const auto lower = static_cast<std::uint8_t>(touched & 0xfu), upper = static_cast<std::uint8_t>(touched >> 4);
  const bool starts_low = line_of(access.address[0]) == line_of(base);
  access.lines = lower != 0 && upper != 0 ? 2 : 1;
  access.line[0] = line_of(base) + (starts_low ? 0 : 1);
  access.sectors[0] = starts_low ? lower : upper;
  access.line[1] = line_of(base) + (starts_low ? 1 : 0);
  access.sectors[1] = starts_low ? upper : lower;
}

// Finds the lines and sectors of any addresses. Addresses usually increase with the lane, so the newest line is tried
// first, and a line above all others is known to be new without a search.
void coalesce_scattered(Access& access) {
  int lines = 0;
  std::uint64_t highest = 0;
  std::uint64_t sectors = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const std::uint64_t line = line_of(access.address[l]);
    const auto bit = static_cast<std::uint8_t>(1u << sector_of(access.address[l]));
    if (lines != 0 && line <= highest) {
      int i = lines - 1;
      while (i >= 0 && access.line[i] != line) --i;
      if (i >= 0) {
        sectors += (access.sectors[i] & bit) == 0;
        access.sectors[i] = static_cast<std::uint8_t>(access.sectors[i] | bit);
        continue;
      }
    }
    highest = std::max(highest, line);
    access.line[lines] = line;
    access.sectors[lines++] = bit;
    ++sectors;
  }
  access.lines = lines;
  access.total_sectors = sectors;
}

}  // namespace

void coalesce(Access& access) {
  if (access.uniform) {
    access.lines = 1;
    access.total_sectors = 1;
    access.line[0] = line_of(access.low);
    access.sectors[0] = static_cast<std::uint8_t>(1u << sector_of(access.low));
    return;
  }
  if (access.contiguous) return coalesce_contiguous(access);
  if (access.some_of_a_row()) return coalesce_row(access);
  if (access.has_line_a_lane()) return coalesce_line_a_lane(access);
  access.spell_out();
  const std::uint64_t base = access.low / kLineBytes * kLineBytes;
  access.high - base < 2 * kLineBytes ? coalesce_two_lines(access, base) : coalesce_scattered(access);
}

void count_load(Launch& launch, const Warp& warp, const Op* op, Access& access, bool past_l1) {
  if (!launch.counts) return;
  coalesce(access);
  Multiprocessor& sm = *launch.sm;
  std::uint64_t missed = 0;
  const auto miss = [&](int i, unsigned sectors) {
    missed += static_cast<std::uint64_t>(std::popcount(sectors));
    sm.l2_log.read(access.line[i], sectors);
  };
  if (access.line_step != 0 && !past_l1 && sm.l1.read_again(access.line[0], access.line_step, access.sectors[0])) {
    // All sectors hit.
  } else if (access.spell_out_lines(); past_l1) {
    for (int i = 0; i < access.lines; ++i) miss(i, access.sectors[i]);
  } else if (access.lines != L1Cache::kGroupLines) {
    for (int i = 0; i < access.lines; ++i) {
      if (const unsigned missing = sm.l1.read(access.line[i], access.sectors[i]); missing != 0) miss(i, missing);
    }
  } else if (!sm.l1.read_again(access.line, access.sectors)) {
    std::uint8_t missing[L1Cache::kGroupLines];
    sm.l1.read_group(access.line, access.sectors, missing);
    for (int i = 0; i < access.lines; ++i) {
      if (missing[i] != 0) miss(i, missing[i]);
    }
  }
  InstructionCounters& site = launch.sites[op->pc];
  ++site.requests;
  site.add_sectors(access.total_sectors, ideal_sectors(access), true);
  site.lines += static_cast<std::uint64_t>(access.lines);
  site.hit_sectors += access.total_sectors - missed;
  site.l2_read_sectors += missed;
  const std::uint64_t wavefronts = l1_wavefronts(access);
  sm.l1_lines += static_cast<std::uint64_t>(access.lines);
  sm.l1_wavefronts += wavefronts;
  if (missed == 0) {
    ++site.served_by_l1;
  } else {
    if (warp.trace != nullptr) sm.fetches.note(sm.l1.fetch(), *warp.trace, warp.first_outcome + op->memory);
    sm.l1.end_fetch();
    end_request(sm, warp, op, L2Log::Kind::load);
  }
  if (warp.trace != nullptr) {
    Outcome& outcome = warp.outcome(op);
    add_to(outcome.lines, static_cast<std::uint64_t>(access.lines));
    add_to(outcome.wavefronts, wavefronts);
    add_to(outcome.l2_read_sectors, missed);
    if (!past_l1) note_arrival(sm, warp, op, access, missed, outcome);
  }
}

void count_store(Launch& launch, const Warp& warp, const Op* op, Access& access) {
  if (!launch.counts) return;
  coalesce(access);
  Multiprocessor& sm = *launch.sm;
  access.spell_out_lines();
  WrittenBytes written[kWarpSize];
  const auto ones = static_cast<std::uint32_t>((1ull << access.bytes) - 1);
  if (access.contiguous) {
    for (int i = 0; i < access.lines; ++i) {
      // The bytes [low, high + bytes) that are in this line.
      const std::uint64_t start = std::max(access.low, access.line[i] * kLineBytes) - access.line[i] * kLineBytes;
      const std::uint64_t end =
          std::min(access.high + access.bytes, (access.line[i] + 1) * kLineBytes) - access.line[i] * kLineBytes;
      for (unsigned s = 0; s < 4; ++s) {
        const std::uint64_t from = std::max<std::uint64_t>(start, s * 32),
                            to = std::min<std::uint64_t>(end, s * 32 + 32);
        if (from < to)
          written[i].of_sector[s] = static_cast<std::uint32_t>(((1ull << (to - from)) - 1) << (from - s * 32));
      }
    }
  } else {
    int i = 0;  // the previous lane's line, which is often this lane's, too
    for (int l = 0; l < kWarpSize; ++l) {
      const std::uint64_t address = access.of(l), line = address / kLineBytes;
      if (access.line[i] != line)
        i = static_cast<int>(std::find(access.line, access.line + access.lines, line) - access.line);
      written[i].of_sector[sector_of(address)] |= ones << address % kSectorBytes;
    }
  }
  for (int i = 0; i < access.lines; ++i) sm.l2_log.write(access.line[i], written[i]);
  count_write(launch, warp, op, access, false);
  end_request(sm, warp, op, L2Log::Kind::store);
}

void count_atomic(Launch& launch, const Warp& warp, const Op* op, Access& access) {
  if (!launch.counts) return;
  coalesce(access);
  Multiprocessor& sm = *launch.sm;
  access.spell_out_lines();
  for (int i = 0; i < access.lines; ++i) {
    sm.l1.drop(access.line[i]);
    sm.l2_log.update(access.line[i], access.sectors[i]);
  }
  count_write(launch, warp, op, access, true);
  end_request(sm, warp, op, L2Log::Kind::atomic);
}

bool resolve(Launch& launch, const Warp& warp, const Op* op, const Access& access, const char* verb, Pointers& out) {
  // An access within the buffer that the instruction accessed last needs no further check: resolve_anew() has already
  // checked that buffer.
  const BufferMemo& memo = launch.buffer_memos[op->pc];
  const std::uint64_t end = access.high + access.bytes;
  const std::uint32_t align = access.align_bytes != 0 ? access.align_bytes : access.bytes;
  if (access.low >= memo.low && end <= memo.high && end >= access.high && (access.bits & (align - 1)) == 0) {
    out.base = memo.data;
    out.low_address = memo.low;
    return true;
  }
  return resolve_anew(launch, warp, op, access, verb, out);
}

bool check_defined(Launch& launch, Warp& warp, const Op* op, const Access& access, const char* verb) {
  if (!launch.sanitized || launch.memory.surely_defined(access.low, access.high - access.low + access.bytes))
    return true;
  bool in_part = launch.memory.holds_unset();
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    const std::uint64_t address = access.of(l);
    const std::uint64_t undefined = launch.memory.undefined_bytes(address, access.bytes);
    in_part = in_part || (undefined != 0 && ptx::info(op->instruction->opcode).form == ptx::Form::load);
    if (undefined != access.bytes) continue;
    const Buffer& buffer = *launch.memory.find(address);
    const std::uint64_t index = (address - buffer.address) / buffer.element_bytes;
    launch.stop(warp, op, FaultKind::uninitialized, l,
                fmt::format("uninitialized: {} {}[{}], which nothing has written: memory is not zero by itself", verb,
                            buffer.name, index));
    launch.fault->buffer = buffer.name;
    launch.fault->index = static_cast<std::int64_t>(index);
    launch.fault->extent = buffer.size_bytes / buffer.element_bytes;
    return false;
  }
  return !in_part || find_unset_global(launch, warp, op, access, verb);
}

void define(Launch& launch, const Op* op, const Access& access) {
  if (!launch.sanitized) return;
  if (access.contiguous) launch.memory.define(access.low, kWarpSize * access.bytes);
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    if (!access.contiguous) launch.memory.define(access.of(l), access.bytes);
    if (launch.watched.meets(access.of(l), access.bytes)) launch.watched_pc = op->pc;
  }
}

bool begin_load(Launch& launch, Warp& warp, const Op* op, Access& access, Pointers& out, LaneBytes& bytes) {
  if (!resolve(launch, warp, op, access, "reads", out)) return false;
  if (!check_defined(launch, warp, op, access, "reads")) return false;
  if (op->non_coherent && !check_unstored(launch, warp, op, access)) return false;
  count_load(launch, warp, op, access, op->past_l1);
  if (op->past_l1 && launch.counts && empties_l1(*op->instruction)) launch.sm->l1.empty();
  if (records_global_flow(launch, warp)) note_global_load(launch, warp, op, access);
  if (may_be_stored(launch, access)) {
    overlay_stores(launch, access, out, bytes);
  } else if (out.base != nullptr && access.has_line_a_lane() && access.stride % kSectorBytes == 0 &&
             launch.stores_wait) {
    read_copies(launch, access, out);
  }
  return true;
}

[[gnu::flatten]] bool load_global(Launch& launch, Warp& warp, const Op* op, std::uint32_t bytes, Access& access,
                                  Pointers& out, LaneBytes& data) {
  make_access(warp, op, true, bytes, access);
  return begin_load(launch, warp, op, access, out, data);
}

bool begin_store(Launch& launch, const Warp& warp, const Op* op, Access& access, Pointers& out) {
  if (!resolve(launch, warp, op, access, "writes", out)) return false;
  if (access.mask != kAllLanes) access.spell_out();
  define(launch, op, access);
  if (warp.unset != nullptr) store_unset_global(launch, warp, op, access);
  launch.sm->wrote_global = true;
  count_store(launch, warp, op, access);
  if (records_global_flow(launch, warp)) note_global_store(launch, warp, op, access);
  return true;
}

}  // namespace roofwalk::vgpu
