// The computations of opcodes: scalar functions for one lane, without machine state. They are total: they also run
// for inactive lanes, so they must not trap or be undefined for any input (x/0, INT_MIN/-1, shifts past the width).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/base/int128.h"
#include "common/vgpu/exec/ops/bit_semantics.h"
#include "common/vgpu/exec/ops/half.h"
#include "common/vgpu/exec/ops/math.h"

namespace roofwalk::vgpu::sem {

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
      if (b == 0) return static_cast<T>(~T{0});  // as the hardware's division code returns; PTX leaves it open
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
// If one operand is NaN, the result is the other; -0 is less than +0.
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

struct Sad {  // |a - b| + c
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(a < b ? Sub::apply(b, a) : Sub::apply(a, b), c);
  }
};
// Empty: integer_ops.cpp has the handlers of these operations.
struct Dp2a {};
struct Dp4a {};
struct Vabsdiff2 {};
struct Vabsdiff4 {};
struct Mul24 {};
struct Mad24 {};
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
