// What an opcode computes: scalar, one lane, no machine state. Total: it also runs for inactive lanes, so it must not
// trap or be undefined for any input (x/0, INT_MIN/-1, shifts past the width).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/base/int128.h"
#include "common/vgpu/exec/ops/half.h"
#include "common/vgpu/exec/ops/math.h"

namespace roofwalk::vgpu::sem {

// Integer arithmetic wraps: signed overflow would be undefined.
template <class T>
constexpr auto wrap(T value) {
  if constexpr (std::is_integral_v<T>) {
    // 16-bit operands would be promoted to int, whose product may overflow.
    using Wide = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;
    return static_cast<Wide>(value);
  } else {
    return value;
  }
}

template <class T>
using Unsigned = std::make_unsigned_t<T>;

struct Add {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kIsNarrow<T>)
      return narrow<T>(widen(a) + widen(b));
    else
      return static_cast<T>(wrap(a) + wrap(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kIsNarrow<T>)
      return narrow<T>(widen(a) - widen(b));
    else
      return static_cast<T>(wrap(a) - wrap(b));
  }
};
struct Mul {  // integers: .lo
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kIsNarrow<T>)
      return narrow<T>(widen(a) * widen(b));
    else
      return static_cast<T>(wrap(a) * wrap(b));
  }
};
struct Mad {  // integers: .lo; floats: one rounding, as mad.rn on sm_20 and later
  template <class T>
  static T apply(T a, T b, T c) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fma(a, b, c);
    else
      return static_cast<T>(wrap(a) * wrap(b) + wrap(c));
  }
};
struct Fma {
  template <class T>
  static T apply(T a, T b, T c) {
    if constexpr (kIsNarrow<T>)
      return fused(a, b, c);
    else
      return std::fma(a, b, c);
  }
};
struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      using Wide = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
      return static_cast<T>(static_cast<UInt128>(static_cast<Wide>(a) * b) >> 64);
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> (8 * sizeof(T)));
    }
  }
};
struct MadHi {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHi::apply(a, b), c);
  }
};

struct Div {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) return static_cast<T>(~T{0});  // what the hardware's sequence leaves; PTX leaves it open
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Sub::apply(T{0}, a);
      }
      return static_cast<T>(a / b);
    }
  }
};
struct Rem {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return T{0};
    }
    return static_cast<T>(a % b);
  }
};

struct Abs {
  template <class T>
  static T apply(T a) {
    if constexpr (kIsNarrow<T>)
      return T{static_cast<std::uint16_t>(a.bits & 0x7fffu)};
    else if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else
      return a < 0 ? Sub::apply(T{0}, a) : a;
  }
};
struct Neg {
  template <class T>
  static T apply(T a) {
    if constexpr (kIsNarrow<T>)
      return T{static_cast<std::uint16_t>(a.bits ^ 0x8000u)};
    else if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return Sub::apply(T{0}, a);
  }
};
// The operand that is a number wins over NaN; -0 is less than +0.
struct Min {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kIsNarrow<T>) {
      return narrow<T>(apply(widen(a), widen(b)));
    } else if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return b;
      if (b != b) return a;
      return a < b || (a == b && std::signbit(a)) ? a : b;
    } else {
      return a < b ? a : b;
    }
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (kIsNarrow<T>) {
      return narrow<T>(apply(widen(a), widen(b)));
    } else if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return b;
      if (b != b) return a;
      return a > b || (a == b && !std::signbit(a)) ? a : b;
    } else {
      return a > b ? a : b;
    }
  }
};

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

struct Brev {  // exchanges halves, then quarters within them, down to bits
  template <class T>
  static T apply(T a) {
    for (unsigned width = 4 * sizeof(T); width != 0; width /= 2) {
      const T lower = static_cast<T>(static_cast<T>(~T{0}) / ((T{1} << width) + 1));
      a = static_cast<T>((a >> width & lower) | (a & lower) << width);
    }
    return a;
  }
};
struct Clz {  // result is 32-bit whatever the operand
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
struct Bfind {  // place of the highest bit that is not the sign; all ones where there is none
  template <class T>
  static std::uint32_t apply(T a) {
    const auto bits = static_cast<Unsigned<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    return bits == 0 ? ~0u : static_cast<std::uint32_t>(std::bit_width(bits)) - 1;
  }
};
struct Lop3 {  // bit by bit, what the table holds at {a, b, c}
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
    std::uint32_t out = 0;
    for (std::uint32_t row = 0; row < 8; ++row) {
      const std::uint32_t here = ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
      out |= (table >> row & 1) != 0 ? here : 0;
    }
    return out;
  }
};
struct Sad {  // |a - b| + c
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(a < b ? Sub::apply(b, a) : Sub::apply(a, b), c);
  }
};
// Their handlers choose by more than one type: integer_ops.cpp.
struct Dp2a {};
struct Dp4a {};
struct Mul24 {};
struct Mad24 {};
// Ones from bit `first` on, `count` of them or up to the top.
struct Bmsk {
  static std::uint32_t apply(std::uint32_t first, std::uint32_t count) {
    const std::uint32_t ones = count > 31 ? ~0u : (1u << count) - 1u;
    return first > 31 ? 0u : ones << first;
  }
  static std::uint32_t wrapped(std::uint32_t first, std::uint32_t count) { return apply(first & 31u, count & 31u); }
};
struct Szext {  // the low bits, followed by zeros or, where T has a sign, by theirs
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
struct Bfe {  // position and length from the low bytes; the sign of a signed field is extended
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

struct Copysign {  // copysign.f32 d, a, b: the sign of a, the magnitude of b
  template <class T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};
struct Sqrt {
  template <class T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct Rcp {
  template <class T>
  static T apply(T a) {
    return T{1} / a;
  }
};
struct Rsqrt {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct Ex2 {
  template <class T>
  static T apply(T a) {
    if constexpr (kIsNarrow<T>)
      return narrow_nearest<T>(exp2_double(widen(a)));
    else
      return ex2_approx(a);
  }
};
struct Lg2 {
  static float apply(float a) { return lg2_approx(a); }
};
struct Sin {
  static float apply(float a) { return sin_approx(a); }
};
struct Cos {
  static float apply(float a) { return cos_approx(a); }
};
struct Tanh {
  template <class T>
  static T apply(T a) {
    if constexpr (kIsNarrow<T>)
      return narrow<T>(tanh_approx(widen(a)));
    else
      return tanh_approx(a);
  }
};

}  // namespace roofwalk::vgpu::sem
