// One warp-wide memory request: its addresses, their pattern, and its costs in the memory hierarchy.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "common/base/mix.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {

// The byte addresses of a warp's 32 lanes.
struct Access {
  // Inactive lanes have the address of an active one. Not filled while `implied` is true.
  alignas(64) std::uint64_t address[kWarpSize];
  bool implied = false;                 // address[l] = first + l * stride, for the active lanes
  std::uint64_t first = 0, stride = 0;  // the stride may be negative, modulo 2^64
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;          // per lane, 1 to 16
  std::uint32_t align_bytes = 0;    // required alignment; 0: `bytes`
  std::uint32_t read_bytes = 0;     // of all lanes, if some read less than `bytes`; 0: each reads `bytes`
  std::uint64_t low = 0, high = 0;  // lowest and highest address
  // For alignment checks: low bits that are 0 here are 0 in every address; low bits that are 1 here tell nothing. ~0:
  // each address must be checked.
  std::uint64_t bits = ~0ull;
  bool uniform = false;     // all lanes have one address
  bool contiguous = false;  // address[l] = address[0] + l * bytes, all lanes active

  // Address of an active lane.
  std::uint64_t of(int l) const { return implied ? first + static_cast<std::uint64_t>(l) * stride : address[l]; }
  // Fills `address` if only the pattern was stored.
  void spell_out() {
    if (!implied) return;
    if (mask == kAllLanes) {
      for (int l = 0; l < kWarpSize; ++l) address[l] = first + static_cast<std::uint64_t>(l) * stride;
    } else {
      const int some = std::countr_zero(mask);
      for (int l = 0; l < kWarpSize; ++l)
        address[l] = first + static_cast<std::uint64_t>((mask >> l & 1u) != 0 ? l : some) * stride;
    }
    implied = false;
  }
  // Whether some lanes, but not all, access words of one row: lane l's word is at first + 4 * l.
  bool some_of_a_row() const { return implied && stride == 4 && bytes == 4 && mask != kAllLanes && first <= low; }

  // Whether all lanes are active and each touches a different line, at a constant stride.
  bool has_line_a_lane() const {
    const bool upwards = static_cast<std::int64_t>(stride) > 0;
    return implied && mask == kAllLanes && (upwards ? stride : 0 - stride) >= kLineBytes;
  }

  // The lines that the access touches, in the order in which lanes first touch them. If `line_step` is not 0, lane l
  // touches the same sector of line[0] + l * line_step, and only entry 0 is filled.
  int lines = 0;
  std::uint64_t line_step = 0;
  std::uint64_t total_sectors = 0;
  alignas(64) std::uint64_t line[kWarpSize];
  alignas(32) std::uint8_t sectors[kWarpSize];  // 4-bit masks
  void spell_out_lines() {
    if (line_step == 0) return;
    for (int l = 1; l < kWarpSize; ++l) {
      line[l] = line[0] + static_cast<std::uint64_t>(l) * line_step;
      sectors[l] = sectors[0];
    }
    line_step = 0;
  }
};

// Whether base[l] == first + l * stride for the active lanes.
template <bool all_active>
inline bool has_even_steps(const std::uint64_t* base, std::uint32_t mask, std::uint64_t first, std::uint64_t stride) {
  typedef std::uint64_t Eight __attribute__((vector_size(64)));
  const Eight lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  Eight expected = first + lanes * stride, gaps = {};
  for (int l = 0; l < kWarpSize; l += 8) {
    Eight found;
    std::memcpy(&found, base + l, sizeof found);
    Eight gap = found ^ expected;
    if constexpr (!all_active) {
#ifdef __AVX512F__
      gap = reinterpret_cast<Eight>(
          _mm512_maskz_mov_epi64(static_cast<__mmask8>(mask >> l), reinterpret_cast<__m512i>(gap)));
#else
      gap &= -((std::uint64_t{mask >> l} >> lanes) & 1u);
#endif
    }
    gaps |= gap;
    expected += 8 * stride;
  }
#ifdef __AVX512F__
  return _mm512_test_epi64_mask(reinterpret_cast<__m512i>(gaps), reinterpret_cast<__m512i>(gaps)) == 0;
#else
  std::uint64_t any = 0;
  for (int i = 0; i < 8; ++i) any |= gaps[i];
  return any == 0;
#endif
}

// Returns the sectors that the lanes in `mask` touch if lane l's word is at first + 4 * l: four bits for the line of
// `first`, then four for the next line.
inline std::uint32_t sectors_of_row(std::uint64_t first, std::uint32_t mask) {
  // A sector's lanes are one byte of the shifted mask; each byte is reduced to one bit.
  const std::uint64_t lanes = std::uint64_t{mask} << (first % kSectorBytes / 4);
  constexpr std::uint64_t kLow = 0x7f7f'7f7f'7f7f'7f7f, kOnes = 0x0101'0101'0101'0101;
  const std::uint64_t touched = ((((lanes & kLow) + kLow) | lanes) >> 7) & kOnes;
  return static_cast<std::uint32_t>((touched * 0x0102'0408'1020'4080) >> 56) << (first / kSectorBytes % 4);
}

// Computes the addresses of the lanes in `mask` and finds their pattern. An address is `offset` plus the register in
// slot `at`, which has 64 bits if `wide_address`, else 32; kNoSlot stands for 0.
void make_access(const Warp& warp, std::uint32_t mask, Slot at, std::int64_t offset, bool wide_address,
                 std::uint32_t bytes, Access& out);
// This make_access() is for the executing lanes and the usual address, s[4] plus offset.
inline void make_access(const Warp& warp, const Op* op, bool wide_address, std::uint32_t bytes, Access& out) {
  make_access(warp, warp.mask, op->s[4], op->offset, wide_address, bytes, out);
}

// This make_access() takes the addresses instead of computing them.
void make_access(const std::uint64_t (&lanes)[kWarpSize], std::uint32_t mask, std::uint32_t bytes, Access& out);

// Finds the lines and sectors. Each lane's bytes lie within one sector (accesses are aligned).
void coalesce(Access& access);

// If the launch counts memory traffic, these three find the lines and sectors and count the request: a load through L1
// (unless past_l1), L2 and DRAM; a store to L2; an atomic at L2.
void count_load(Launch& launch, const Warp& warp, const Op* op, Access& access, bool past_l1 = false);
void count_store(Launch& launch, const Warp& warp, const Op* op, Access& access);
void count_atomic(Launch& launch, const Warp& warp, const Op* op, Access& access);
// If the launch counts memory traffic: counts the passes of a load of constant memory, and its requests to the constant
// caches and L2.
void count_constants(Launch& launch, const Warp& warp, const Op* op, const Access& access);

// Host pointers to the lanes' bytes: one base if all are in one buffer, else one pointer per lane. resolve() is
// false, with a fault recorded, if a lane is outside every buffer or misaligned.
struct Pointers {
  std::uint8_t* base = nullptr;  // if not null, lane l's bytes are at base + address - low_address
  std::uint64_t low_address = 0;
  std::uint8_t* lane[kWarpSize];  // filled only where base is null
  std::uint8_t* of(const Access& access, int l) const {
    return base != nullptr ? base + (access.of(l) - low_address) : lane[l];
  }
};
bool resolve(Launch& launch, const Warp& warp, const Op* op, const Access& access, const char* verb, Pointers& out);

// check_defined: in sanitized runs, whether each lane reads at least one byte that has been written (a wide load may
// include padding that nobody sets); false if a fault was recorded. It also marks what the load carries on of values
// that nobody has set (unset_loads.h). define: marks the bytes of a store as written.
bool check_defined(Launch& launch, Warp& warp, const Op* op, const Access& access, const char* verb);
void define(Launch& launch, const Op* op, const Access& access);

// A buffer for the lanes' bytes.
struct LaneBytes {
  alignas(64) std::uint8_t bytes[kWarpSize * 16];
  std::uint8_t* lane(int l, std::uint32_t spacing_bytes = 16) {
    return bytes + static_cast<std::uint32_t>(l) * spacing_bytes;
  }
  // Returns pointers into this buffer for a store: lane after lane without gaps.
  Pointers pointers(const Access& access);
};
// Whether this SM may have stored, in this round, to bytes that the access reads.
inline bool may_be_stored(const Launch& launch, const Access& access) {
  return launch.sm->stores.may_hold(access.low, access.high + access.bytes);
}
// Copies a load's data to `bytes`, applies this round's stores to the copy, and redirects the pointers to it. Inactive
// lanes point to the data of an active one.
void overlay_stores(const Launch& launch, const Access& access, Pointers& at, LaneBytes& bytes);
// Puts the bytes of a store into the SM's store log; `at` is their destination.
void keep_stores(Launch& launch, const Access& access, const Pointers& at, LaneBytes& bytes);

// begin_load and begin_store check the bounds of an access to global memory and count it; only moving the data is left
// to the caller. Like resolve(), they return false after a fault. begin_load may redirect `access` and the pointers to
// copies of the data, in `bytes` or elsewhere.
bool begin_load(Launch& launch, Warp& warp, const Op* op, Access& access, Pointers& out, LaneBytes& bytes);
// Like begin_load, but also makes the access: for loads with the .global state space, which are the most frequent.
bool load_global(Launch& launch, Warp& warp, const Op* op, std::uint32_t bytes, Access& access, Pointers& out,
                 LaneBytes& data);
bool begin_store(Launch& launch, const Warp& warp, const Op* op, Access& access, Pointers& out);

// Executes a store to global memory whose access is already made; `move(access, pointers)` moves the lanes' bytes.
template <class Move>
const Op* store_global(Launch& launch, Warp& warp, const Op* op, Access& access, Move&& move);

// Returns the operation after a memory instruction; nullptr if the SM's log is full, which ends the turn for this
// round.
inline const Op* after_memory(const Launch& launch, Warp& warp, const Op* op) {
  if (!launch.sm->l2_log.full()) return op + 1;
  warp.next = op + 1;
  return nullptr;
}

// Returns one of these lanes, by chance: which of several stores to one word remains is not defined (PTX ISA, memory
// consistency model).
inline std::uint32_t one_by_chance(Launch& launch, std::uint32_t lanes) {
  const std::uint64_t chance = mix(launch.chance_seed + ++launch.chances);
  for (auto before = chance % static_cast<std::uint64_t>(std::popcount(lanes)); before != 0; --before)
    lanes &= lanes - 1;
  return lanes & -lanes;
}

template <class Move>
const Op* store_global(Launch& launch, Warp& warp, const Op* op, Access& access, Move&& move) {
  Pointers at;
  if (!begin_store(launch, warp, op, access, at)) return nullptr;
  const auto store = [&] {
    if (launch.stores_wait) {
      LaneBytes data;
      move(access, data.pointers(access));
      keep_stores(launch, access, at, data);
    } else {
      move(access, at);
    }
  };
  store();
  if (launch.chance_seed != 0 && !access.contiguous) {
    // If several lanes store to one word, the one that stores last is taken by chance.
    const std::uint32_t all = warp.mask;
    if ((all & (all - 1)) != 0) {
      warp.mask = access.mask = one_by_chance(launch, all);
      store();
      warp.mask = access.mask = all;
    }
  }
  return after_memory(launch, warp, op);
}

}  // namespace roofwalk::vgpu
