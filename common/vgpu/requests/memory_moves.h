// Moves data between memory and the lanes of registers, and chooses handlers by the type and number of values moved.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#ifdef __AVX512VL__
#include <immintrin.h>
#endif

#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {

// Converts a value of memory type M to register type R: unchanged, or zero- or sign-extended.
template <class R, class M>
inline R extend(const std::uint8_t* from) {
  M value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<R>(value);
}

using FourWords = std::uint32_t __attribute__((vector_size(16)));

inline void transpose(FourWords (&m)[4]) {
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
inline void move_four_words_in(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
  std::uint32_t* const to[4] = {warp.lanes<std::uint32_t>(op->s[0]), warp.lanes<std::uint32_t>(op->s[1]),
                                warp.lanes<std::uint32_t>(op->s[2]), warp.lanes<std::uint32_t>(op->s[3])};
  for (int l = 0; l < kWarpSize; l += 4) {
    FourWords words[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&words[i], at.of(access, l + i), sizeof words[i]);
    transpose(words);
    for (int i = 0; i < 4; ++i) std::memcpy(to[i] + l, &words[i], sizeof words[i]);
  }
}
inline void move_four_words_out(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
  for (int l = 0; l < kWarpSize; l += 4) {
    FourWords words[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&words[i], warp.lanes<std::uint32_t>(op->s[i]) + l, sizeof words[i]);
    transpose(words);
    for (int i = 0; i < 4; ++i) std::memcpy(at.of(access, l + i), &words[i], sizeof words[i]);
  }
}
template <class R, class M, int vector>
inline bool moves_four_words(const Warp& warp, const Op* op) {
  if constexpr (vector == 4 && sizeof(R) == 4 && sizeof(M) == 4) {
    return warp.mask == kAllLanes && op->s[0] != kNoSlot && op->s[1] != kNoSlot && op->s[2] != kNoSlot &&
           op->s[3] != kNoSlot;
  } else {
    return false;
  }
}

// Loads one word per active lane from a row of words. Words of inactive lanes are not read.
inline void move_row_in(std::uint32_t* to, std::uint32_t mask, const std::uint8_t* row) {
#ifdef __AVX512VL__
  for (int l = 0; l < kWarpSize; l += 8) {
    const auto active = static_cast<__mmask8>(mask >> l);
    auto* const eight = reinterpret_cast<__m256i*>(to + l);
    _mm256_store_si256(eight, _mm256_mask_loadu_epi32(_mm256_load_si256(eight), active, row + 4 * l));
  }
#else
  const int some = std::countr_zero(mask);
  for_lanes(to, mask,
            [&](int l) { return extend<std::uint32_t, std::uint32_t>(row + 4 * ((mask >> l & 1u) != 0 ? l : some)); });
#endif
}

template <class R, class M, int vector>
inline void move_in(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
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
inline void move_out(const Warp& warp, const Op* op, const Access& access, const Pointers& at) {
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

// A pointer to an instance of move_in or move_out, for code that should not be compiled anew for each instance.
using Mover = void (*)(const Warp&, const Op*, const Access&, const Pointers&);

// Selects Of<R, M, vector>::in(space), the handler for registers of type R, memory of type M and 1, 2 or 4 elements
// per lane.
template <template <class, class, int> class Of, class R, class M>
Handler by_vector(const ptx::Instruction& in) {
  constexpr bool kFitsFour = sizeof(M) <= 4;
  switch (in.vector) {
    case 1:
      return Of<R, M, 1>::in(in.space);
    case 2:
      return Of<R, M, 2>::in(in.space);
    case 4:
      if constexpr (kFitsFour)
        return Of<R, M, 4>::in(in.space);
      else
        return nullptr;
    default:
      return nullptr;
  }
}

template <template <class, class, int> class Of, class M>
Handler by_register(const ptx::Instruction& in, int register_bytes) {
  // Sign extension needs a signed register type. Registers narrower than the memory type do not occur (validated). If
  // nothing is extended, one handler serves both signs.
  constexpr bool kSigned = std::is_signed_v<M>;
  if constexpr (kSigned) {
    if (register_bytes == sizeof(M)) return by_register<Of, std::make_unsigned_t<M>>(in, register_bytes);
  }
  switch (register_bytes) {
    case 2:
      if constexpr (sizeof(M) < 2 || (sizeof(M) == 2 && !kSigned))
        return by_vector<Of, std::conditional_t<kSigned, std::int16_t, std::uint16_t>, M>(in);
      else
        return nullptr;
    case 4:
      if constexpr (sizeof(M) < 4 || (sizeof(M) == 4 && !kSigned))
        return by_vector<Of, std::conditional_t<kSigned, std::int32_t, std::uint32_t>, M>(in);
      else
        return nullptr;
    case 8:
      if constexpr (sizeof(M) < 8 || !kSigned)
        return by_vector<Of, std::conditional_t<kSigned, std::int64_t, std::uint64_t>, M>(in);
      else
        return nullptr;
    default:
      return nullptr;
  }
}

// Handlers of stores are chosen by size only, because stores do not extend.
template <template <class, class, int> class Of>
Handler by_size(const ptx::Instruction& in, int register_bytes) {
  using ptx::Type;
  switch (in.type) {
    case Type::s8:
    case Type::b8:
    case Type::u8:
      return by_register<Of, std::uint8_t>(in, register_bytes);
    case Type::s16:
    case Type::b16:
    case Type::u16:
    case Type::f16:
      return by_register<Of, std::uint16_t>(in, register_bytes);
    case Type::s32:
    case Type::b32:
    case Type::u32:
    case Type::f32:
      return by_register<Of, std::uint32_t>(in, register_bytes);
    case Type::s64:
    case Type::b64:
    case Type::u64:
    case Type::f64:
      return by_register<Of, std::uint64_t>(in, register_bytes);
    default:
      return nullptr;
  }
}

// Handlers of loads are chosen by type.
template <template <class, class, int> class Of>
Handler by_form(const ptx::Instruction& in, int register_bytes) {
  using ptx::Type;
  switch (in.type) {
    case Type::s8:
      return by_register<Of, std::int8_t>(in, register_bytes);
    case Type::s16:
      return by_register<Of, std::int16_t>(in, register_bytes);
    case Type::s32:
      return by_register<Of, std::int32_t>(in, register_bytes);
    default:
      return by_size<Of>(in, register_bytes);
  }
}

}  // namespace roofwalk::vgpu
