// Special cases of integer operations: sums of packed products, distances of packed numbers, permutations by mode,
// saturation, 24-bit factors.
#include <algorithm>
#include <cstdint>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/semantics.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::MulMode;
using ptx::Opcode;
using ptx::PermuteMode;
using ptx::Type;

// Computes f(a, b, c) for each 32-bit lane. If there is no c, a is passed in its place.
template <auto f>
const Op* op_words(Launch&, Warp& warp, const Op* op) {
  const std::uint32_t* a = warp.lanes<std::uint32_t>(op->s[1]);
  const std::uint32_t* b = warp.lanes<std::uint32_t>(op->s[2]);
  const std::uint32_t* c = op->s[3] == kNoSlot ? a : warp.lanes<std::uint32_t>(op->s[3]);
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) { return f(a[l], b[l], c[l]); });
  return op + 1;
}

// Returns c plus the sum of `count` products of packed numbers, modulo 2^32.
template <class A, class B, int count, int first_b>
std::uint32_t dot(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr int kBits = 8 * sizeof(A);
  for (int i = 0; i < count; ++i) {
    const std::int32_t x = static_cast<A>(a >> (kBits * i)), y = static_cast<B>(b >> (8 * (first_b + i)));
    c += static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y);
  }
  return c;
}

// Returns the distances between the packed unsigned numbers of a and b, of so many bits each: packed, or added to c.
template <int bits, bool adds_up>
std::uint32_t distances(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr std::uint32_t kMask = (1u << bits) - 1;
  std::uint32_t out = adds_up ? c : 0;
  for (int at = 0; at < 32; at += bits) {
    const std::uint32_t x = a >> at & kMask, y = b >> at & kMask, apart = x > y ? x - y : y - x;
    out += adds_up ? apart : apart << at;
  }
  return out;
}

template <class SignedA, class UnsignedA, int count, int first_b>
Handler dot_handler(const Instruction& in) {
  const bool of_signed_a = in.source_type == Type::s32, of_signed_b = in.second_type == Type::s32;
  if (of_signed_a) {
    return of_signed_b ? op_words<dot<SignedA, std::int8_t, count, first_b>>
                       : op_words<dot<SignedA, std::uint8_t, count, first_b>>;
  }
  return of_signed_b ? op_words<dot<UnsignedA, std::int8_t, count, first_b>>
                     : op_words<dot<UnsignedA, std::uint8_t, count, first_b>>;
}

// The modes of prmt: which byte of {b, a} becomes byte i of the result; `n` is the low two bits of c.
template <PermuteMode mode>
std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t n = c & 3;
  const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
  std::uint32_t out = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::uint32_t from = 0;
    switch (mode) {
      case PermuteMode::f4e:  // forward, four in a row
        from = n + i;
        break;
      case PermuteMode::b4e:  // backward
        from = (n - i) & 7;
        break;
      case PermuteMode::rc8:  // one byte everywhere
        from = n;
        break;
      case PermuteMode::ecl:  // edge clamp left: not below n
        from = std::max(i, n);
        break;
      case PermuteMode::ecr:  // edge clamp right: not above n
        from = std::min(i, n);
        break;
      default:  // rc16: the same half twice
        from = (n & 1) * 2 + (i & 1);
    }
    out |= static_cast<std::uint32_t>(bytes >> (8 * from) & 0xff) << (8 * i);
  }
  return out;
}

Handler permute_handler(PermuteMode mode) {
  switch (mode) {
    case PermuteMode::f4e:
      return op_words<permute<PermuteMode::f4e>>;
    case PermuteMode::b4e:
      return op_words<permute<PermuteMode::b4e>>;
    case PermuteMode::rc8:
      return op_words<permute<PermuteMode::rc8>>;
    case PermuteMode::ecl:
      return op_words<permute<PermuteMode::ecl>>;
    case PermuteMode::ecr:
      return op_words<permute<PermuteMode::ecr>>;
    case PermuteMode::rc16:
      return op_words<permute<PermuteMode::rc16>>;
    case PermuteMode::none:
      return nullptr;
  }
  return nullptr;
}

std::uint32_t clamped(std::int64_t value) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())));
}
std::int64_t signed_of(std::uint32_t bits) { return static_cast<std::int32_t>(bits); }

std::uint32_t add_saturated(std::uint32_t a, std::uint32_t b, std::uint32_t) {
  return clamped(signed_of(a) + signed_of(b));
}
std::uint32_t sub_saturated(std::uint32_t a, std::uint32_t b, std::uint32_t) {
  return clamped(signed_of(a) - signed_of(b));
}
std::uint32_t mad_high_saturated(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return clamped((signed_of(a) * signed_of(b) >> 32) + signed_of(c));
}

// Returns the 48-bit product of the low 24 bits of a and b.
template <bool is_signed>
std::int64_t product24(std::uint32_t a, std::uint32_t b) {
  if constexpr (is_signed)
    return (signed_of(a << 8) >> 8) * (signed_of(b << 8) >> 8);
  else
    return static_cast<std::int64_t>(a & 0xff'ffff) * static_cast<std::int64_t>(b & 0xff'ffff);
}
template <bool is_signed, bool high, bool adds>
std::uint32_t multiply24(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>(product24<is_signed>(a, b) >> (high ? 16 : 0)) + (adds ? c : 0);
}
std::uint32_t mad24_high_saturated(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return clamped(signed_of(static_cast<std::uint32_t>(product24<true>(a, b) >> 16)) + signed_of(c));
}

template <bool adds>
Handler handler24(const Instruction& in) {
  const bool high = in.mul == MulMode::hi;
  if (in.type == Type::s32)
    return high ? op_words<multiply24<true, true, adds>> : op_words<multiply24<true, false, adds>>;
  return high ? op_words<multiply24<false, true, adds>> : op_words<multiply24<false, false, adds>>;
}

// bfind.shiftamt: the left shift that moves the found bit to the top; all ones if there is none.
template <class T>
const Op* op_find_shift(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) {
    const std::uint32_t place = sem::Bfind::apply(a[l]);
    return place == ~0u ? place : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - place;
  });
  return op + 1;
}

Handler find_shift_handler(Type type) {
  switch (type) {
    case Type::u32:
      return op_find_shift<std::uint32_t>;
    case Type::s32:
      return op_find_shift<std::int32_t>;
    case Type::u64:
      return op_find_shift<std::uint64_t>;
    case Type::s64:
      return op_find_shift<std::int64_t>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler integer_handler(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::Dp4a:
      return dot_handler<std::int8_t, std::uint8_t, 4, 0>(in);
    case Opcode::Dp2a:
      return in.mul == MulMode::hi ? dot_handler<std::int16_t, std::uint16_t, 2, 2>(in)
                                   : dot_handler<std::int16_t, std::uint16_t, 2, 0>(in);
    case Opcode::Vabsdiff2:
      return in.adds_up ? op_words<distances<16, true>> : op_words<distances<16, false>>;
    case Opcode::Vabsdiff4:
      return in.adds_up ? op_words<distances<8, true>> : op_words<distances<8, false>>;
    case Opcode::Prmt:
      return permute_handler(in.permute);
    case Opcode::Bfind:
      return in.shift_amount ? find_shift_handler(in.type) : nullptr;
    case Opcode::Mul24:
      return handler24<false>(in);
    case Opcode::Mad24:
      return in.sat ? op_words<mad24_high_saturated> : handler24<true>(in);
    default:
      break;
  }
  if (!in.sat || in.type != Type::s32) return nullptr;
  switch (in.opcode) {
    case Opcode::Add:
      return op_words<add_saturated>;
    case Opcode::Sub:
      return op_words<sub_saturated>;
    case Opcode::Mad:
      return op_words<mad_high_saturated>;
    default:
      return nullptr;
  }
}

}  // namespace roofwalk::vgpu
