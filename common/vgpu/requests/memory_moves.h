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

// Moves `vector` elements per active lane between memory and registers; R: type of the registers, M: of memory. Their
// instances, one for each form that by_form and by_size select, are compiled once, in memory_moves.cpp.
template <class R, class M, int vector>
void move_in(const Warp& warp, const Op* op, const Access& access, const Pointers& at);
template <class R, class M, int vector>
void move_out(const Warp& warp, const Op* op, const Access& access, const Pointers& at);

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
