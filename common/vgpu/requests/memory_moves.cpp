// Instances of move_in and move_out (memory_moves.h).
#include "common/vgpu/requests/memory_moves.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace roofwalk::vgpu {
namespace {

using FourWords = std::uint32_t __attribute__((vector_size(16)));

void transpose(FourWords (&m)[4]) {
  const FourWords low = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5),
                  high = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7);
  const FourWords low2 = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5),
                  high2 = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);
  m[0] = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
  m[1] = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
  m[2] = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
  m[3] = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
}

// Loads 16 bytes per lane into four registers, four lanes at a time. All lanes must be active.
void move_four_words_in(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
  std::uint32_t* const to[4] = {warp.lanes<std::uint32_t>(op->s[0]), warp.lanes<std::uint32_t>(op->s[1]),
                                warp.lanes<std::uint32_t>(op->s[2]), warp.lanes<std::uint32_t>(op->s[3])};
  for (int l = 0; l < kWarpSize; l += 4) {
    FourWords words[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&words[i], at.of(access, l + i), sizeof words[i]);
    transpose(words);
    for (int i = 0; i < 4; ++i) std::memcpy(to[i] + l, &words[i], sizeof words[i]);
  }
}
void move_four_words_out(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
  for (int l = 0; l < kWarpSize; l += 4) {
    FourWords words[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&words[i], warp.lanes<std::uint32_t>(op->s[i]) + l, sizeof words[i]);
    transpose(words);
    for (int i = 0; i < 4; ++i) std::memcpy(at.of(access, l + i), &words[i], sizeof words[i]);
  }
}
template <class R, class M, int vector>
bool moves_four_words(const Warp& warp, const Op* op) {
  if constexpr (vector == 4 && sizeof(R) == 4 && sizeof(M) == 4) {
    return warp.mask == kAllLanes && op->s[0] != kNoSlot && op->s[1] != kNoSlot && op->s[2] != kNoSlot &&
           op->s[3] != kNoSlot;
  } else {
    return false;
  }
}

}  // namespace

template <class R, class M, int vector>
void move_in(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
  if (moves_four_words<R, M, vector>(warp, op) && !access.uniform) return move_four_words_in(warp, op, access, at);
  for (int part = 0; part < vector; ++part) {
    if (op->s[part] == kNoSlot) continue;
    R* const d = warp.lanes<R>(op->s[part]);
    if (at.base != nullptr) {
      const std::uint8_t* const base = at.base - at.low_address + part * sizeof(M);
      if constexpr (vector == 1 && sizeof(R) == sizeof(M)) {
        if (access.contiguous) {
          std::memcpy(d, base + access.low, kWarpSize * sizeof(M));
          continue;
        }
      }
      if constexpr (vector == 1 && sizeof(R) == 4 && sizeof(M) == 4) {
        if (access.some_of_a_row()) {
          move_row_in(reinterpret_cast<std::uint32_t*>(d), warp.mask, base + access.first);
          continue;
        }
      }
      if (access.uniform) {
        const R value = extend<R, M>(base + access.low);
        for_lanes(d, warp.mask, [&](int) { return value; });
      } else if (access.contiguous) {
        constexpr int kStride = sizeof(M) * vector;
        for_lanes(d, warp.mask, [&](int l) { return extend<R, M>(base + access.low + l * kStride); });
      } else if (access.implied && warp.mask == kAllLanes) {
        for_lanes(d, warp.mask, [&](int l) {
          return extend<R, M>(base + access.first + static_cast<std::uint64_t>(l) * access.stride);
        });
      } else if (access.implied) {
        const int some = std::countr_zero(warp.mask);
        for_lanes(d, warp.mask, [&](int l) {
          const int active = (warp.mask >> l & 1u) != 0 ? l : some;
          return extend<R, M>(base + access.first + static_cast<std::uint64_t>(active) * access.stride);
        });
      } else {
        for_lanes(d, warp.mask, [&](int l) { return extend<R, M>(base + access.address[l]); });
      }
    } else {
      for_lanes(d, warp.mask, [&](int l) { return extend<R, M>(at.lane[l] + part * sizeof(M)); });
    }
  }
}

template <class R, class M, int vector>
void move_out(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
  if (moves_four_words<R, M, vector>(warp, op)) return move_four_words_out(warp, op, access, at);
  for (int part = 0; part < vector; ++part) {
    const R* const v = warp.lanes<R>(op->s[part]);
    if constexpr (vector == 1 && sizeof(R) == sizeof(M)) {
      if (at.base != nullptr && access.contiguous) {
        std::memcpy(at.base + (access.low - at.low_address), v, kWarpSize * sizeof(M));
        continue;
      }
    }
    for (int l = 0; l < kWarpSize; ++l) {
      if ((warp.mask >> l & 1u) == 0) continue;
      const M value = static_cast<M>(v[l]);
      std::memcpy(at.of(access, l) + part * sizeof(M), &value, sizeof value);
    }
  }
}

#define LOADS(R, M, vector) template void move_in<R, M, vector>(const Warp&, const Op*, const Access&, const Pointers&)
#define STORES(R, M, vector) \
  template void move_out<R, M, vector>(const Warp&, const Op*, const Access&, const Pointers&)
#define FORMS(KIND, R, M) \
  KIND(R, M, 1);          \
  KIND(R, M, 2);          \
  KIND(R, M, 4)

FORMS(LOADS, std::uint16_t, std::uint8_t);
FORMS(LOADS, std::int16_t, std::int8_t);
FORMS(LOADS, std::uint32_t, std::uint8_t);
FORMS(LOADS, std::int32_t, std::int8_t);
FORMS(LOADS, std::uint64_t, std::uint8_t);
FORMS(LOADS, std::int64_t, std::int8_t);
FORMS(LOADS, std::uint16_t, std::uint16_t);
FORMS(LOADS, std::uint32_t, std::uint16_t);
FORMS(LOADS, std::int32_t, std::int16_t);
FORMS(LOADS, std::uint64_t, std::uint16_t);
FORMS(LOADS, std::int64_t, std::int16_t);
FORMS(LOADS, std::uint32_t, std::uint32_t);
FORMS(LOADS, std::uint64_t, std::uint32_t);
FORMS(LOADS, std::int64_t, std::int32_t);
LOADS(std::uint64_t, std::uint64_t, 1);
LOADS(std::uint64_t, std::uint64_t, 2);

FORMS(STORES, std::uint16_t, std::uint8_t);
FORMS(STORES, std::uint32_t, std::uint8_t);
FORMS(STORES, std::uint64_t, std::uint8_t);
FORMS(STORES, std::uint16_t, std::uint16_t);
FORMS(STORES, std::uint32_t, std::uint16_t);
FORMS(STORES, std::uint64_t, std::uint16_t);
FORMS(STORES, std::uint32_t, std::uint32_t);
FORMS(STORES, std::uint64_t, std::uint32_t);
STORES(std::uint64_t, std::uint64_t, 1);
STORES(std::uint64_t, std::uint64_t, 2);

#undef FORMS
#undef STORES
#undef LOADS

}  // namespace roofwalk::vgpu
