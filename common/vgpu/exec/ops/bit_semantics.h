// The computations of opcodes that work on bits: logic, shifts, fields, permutations. Include semantics.h instead.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace roofwalk::vgpu::sem {

// Converts to unsigned, so that integer arithmetic wraps: signed overflow would be undefined.
template <class T>
constexpr auto wrap(T value) {
  if constexpr (std::is_integral_v<T>) {
    // 16-bit operands would be promoted to int, in which their product may overflow.
    using Wide = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;
    return static_cast<Wide>(value);
  } else {
    return value;
  }
}

template <class T>
using Unsigned = std::make_unsigned_t<T>;

struct And {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(a == 0);
  }
};

// Shift amounts are 32-bit and clamp at the width.
struct Shl {
  template <class T>
  static T apply(T a, std::uint32_t n) {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(wrap(a) << n);
  }
};
struct Shr {
  template <class T>
  static T apply(T a, std::uint32_t n) {
    constexpr std::uint32_t kWidth = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (n >= kWidth ? kWidth - 1 : n));
    else
      return n >= kWidth ? T{0} : static_cast<T>(a >> n);
  }
};

struct Brev {  // reverses the bits: swaps halves, then the quarters in each half, down to bits
  template <class T>
  static T apply(T a) {
    for (unsigned width = 4 * sizeof(T); width != 0; width /= 2) {
      const T lower = static_cast<T>(static_cast<T>(~T{0}) / ((T{1} << width) + 1));
      a = static_cast<T>((a >> width & lower) | (a & lower) << width);
    }
    return a;
  }
};
struct Clz {  // the result is 32-bit for every operand type
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(static_cast<Unsigned<T>>(a)));
  }
};
struct Popc {
  template <class T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::popcount(static_cast<Unsigned<T>>(a)));
  }
};
struct Bfind {  // index of the highest bit that differs from the sign; all ones if there is no such bit
  template <class T>
  static std::uint32_t apply(T a) {
    const auto bits = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    return bits == 0 ? ~0u : static_cast<std::uint32_t>(std::bit_width(bits)) - 1;
  }
};
// Position of the n-th set bit from bit `base` on: upwards, or downwards if n is negative; n = 0 is bit `base` itself.
// All ones if there is no such bit. Bases above 31 are undefined in PTX; here, as in ptxas' code, nothing is found.
struct Fns {
  static std::uint32_t apply(std::uint32_t mask, std::uint32_t base, std::uint32_t offset) {
    if (base > 31) return ~0u;
    const bool down = static_cast<std::int32_t>(offset) < 0;
    if (down) mask = Brev::apply(mask), base = 31 - base, offset = 0 - offset;
    mask &= offset == 0 ? 1u << base : ~0u << base;
    std::uint32_t left = offset == 0 ? 1 : offset;
    if (left > Popc::apply(mask)) return ~0u;
    std::uint32_t place = 0;
    for (std::uint32_t width = 16; width != 0; width /= 2) {
      const std::uint32_t below = Popc::apply(mask & ((1u << width) - 1));
      if (below >= left) continue;
      left -= below;
      mask >>= width;
      place += width;
    }
    return down ? 31 - place : place;
  }
};
struct Lop3 {  // each bit of the result: the bit of `table` at the index formed by the bits of a, b, c
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
    std::uint32_t out = 0;
    for (std::uint32_t row = 0; row < 8; ++row) {
      const std::uint32_t here = ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
      out |= (table >> row & 1) != 0 ? here : 0;
    }
    return out;
  }
};
// A mask of `count` ones from bit `first` upwards; ones beyond bit 31 are dropped.
struct Bmsk {
  static std::uint32_t apply(std::uint32_t first, std::uint32_t count) {
    const std::uint32_t ones = count > 31 ? ~0u : (1u << count) - 1u;
    return first > 31 ? 0u : ones << first;
  }
  static std::uint32_t wrapped(std::uint32_t first, std::uint32_t count) { return apply(first & 31u, count & 31u); }
};
struct Szext {  // the low bits, zero-extended or, for signed T, sign-extended
  template <class T>
  static T apply(T a, std::uint32_t bits) {
    if (bits == 0) return T{0};
    return bits > 31 ? a : static_cast<T>(static_cast<T>(wrap(a) << (32 - bits)) >> (32 - bits));
  }
  template <class T>
  static T wrapped(T a, std::uint32_t bits) {
    return apply(a, bits & 31u);
  }
};
struct Bfe {  // position and length come from the low bytes; a signed field is sign-extended
  template <class T>
  static T apply(T a, std::uint32_t position, std::uint32_t length) {
    constexpr int kWidth = 8 * sizeof(T);
    const int pos = static_cast<int>(position & 0xff), len = static_cast<int>(length & 0xff);
    using U = Unsigned<T>;
    if (len == 0) return T{0};
    const int top = pos + len - 1 < kWidth - 1 ? pos + len - 1 : kWidth - 1;
    const bool sign = std::is_signed_v<T> && (static_cast<U>(a) >> top & 1) != 0;
    U out = pos < kWidth ? static_cast<U>(static_cast<U>(a) >> pos) : U{0};
    const int kept = pos < kWidth ? (len < kWidth - pos ? len : kWidth - pos) : 0;
    if (kept < kWidth) {
      const U mask = kept == 0 ? U{0} : static_cast<U>(static_cast<U>(~U{0}) >> (kWidth - kept));
      out = static_cast<U>((out & mask) | (sign ? static_cast<U>(~mask) : U{0}));
    }
    return static_cast<T>(out);
  }
};
struct Bfi {  // inserts the low bits of a into b
  template <class T>
  static T apply(T a, T b, std::uint32_t position, std::uint32_t length) {
    constexpr unsigned kWidth = 8 * sizeof(T);
    const unsigned pos = position & 0xff, len = length & 0xff;
    if (len == 0 || pos >= kWidth) return b;
    const T ones = len >= kWidth ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    const T mask = static_cast<T>(ones << pos);
    return static_cast<T>((b & ~mask) | (a << pos & mask));
  }
};
struct Prmt {  // default mode: four selectors of 4 bits; bit 3 replicates the byte's sign
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t selectors) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
    std::uint32_t out = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t selector = selectors >> (4 * i) & 0xf;
      std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (selector & 7))) & 0xff;
      if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
      out |= byte << (8 * i);
    }
    return out;
  }
};
template <bool left, bool clamp>
struct FunnelShift {  // shf: b is the high word
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
    const std::uint32_t n = clamp ? (amount > 32 ? 32 : amount) : amount & 31;
    const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    return left ? static_cast<std::uint32_t>(both << n >> 32) : static_cast<std::uint32_t>(both >> n);
  }
};
struct Shf : FunnelShift<true, false> {};

}  // namespace roofwalk::vgpu::sem
