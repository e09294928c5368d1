// Handlers of conversions: between integers of all widths, between all kinds of floats, and between the two.
#include <bit>
#include <cmath>
#include <limits>

#include "common/base/int128.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/math.h"
#include "common/vgpu/exec/ops/semantics.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Rounding;
using ptx::Type;
using ptx::TypeSet;

template <class D, class S>
const Op* op_cast_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<D>(op->s[0]) = static_cast<D>(*warp.lanes<S>(op->s[1]));
  return op + 1;
}

// PTX's canonical NaN.
template <class T>
T the_nan() {
  if constexpr (std::is_same_v<T, float>)
    return canonical_nan();
  else
    return std::numeric_limits<T>::quiet_NaN();
}

// Conversions that equal a C++ cast: truncation, zero and sign extension of integers, and conversions that round to
// nearest.
template <class D, class S>
const Op* op_cast(Launch&, Warp& warp, const Op* op) {
  const S* a = warp.lanes<S>(op->s[1]);
  for_lanes(warp.lanes<D>(op->s[0]), warp.mask, [&](int l) {
    const auto value = static_cast<D>(a[l]);
    if constexpr (std::is_floating_point_v<S>)
      return value != value ? the_nan<D>() : value;
    else
      return value;
  });
  return op + 1;
}

// cvt.rzi of f32 with PTX's limits: NaN becomes 0, values out of range become the nearest bound.
template <class D>
const Op* op_truncate(Launch&, Warp& warp, const Op* op) {
  constexpr D kLeast = std::numeric_limits<D>::min(), kGreatest = std::numeric_limits<D>::max();
  constexpr float kBelow = static_cast<float>(kLeast), kAbove = std::is_signed_v<D> ? 0x1p31f : 0x1p32f;
  const float* a = warp.lanes<float>(op->s[1]);
  for_lanes(warp.lanes<D>(op->s[0]), warp.mask, [&](int l) {
    const float x = a[l];
    const D inside = static_cast<D>(x > kBelow && x < kAbove ? x : 0.0f);
    return x >= kAbove ? kGreatest : x <= kBelow ? kLeast : inside;
  });
  return op + 1;
}

// Conversions without a faster handler run lane by lane, via Int128 or double, which hold every source exactly.
Int128 integer_of(std::uint64_t bits, Type type) {
  switch (type) {
    case Type::u8:
      return static_cast<std::uint8_t>(bits);
    case Type::s8:
      return static_cast<std::int8_t>(bits);
    case Type::u16:
      return static_cast<std::uint16_t>(bits);
    case Type::s16:
      return static_cast<std::int16_t>(bits);
    case Type::u32:
      return static_cast<std::uint32_t>(bits);
    case Type::s32:
      return static_cast<std::int32_t>(bits);
    case Type::s64:
      return static_cast<std::int64_t>(bits);
    default:
      return bits;
  }
}

double float_of(std::uint64_t bits, Type type, bool ftz) {
  if (type == Type::f16) return widen(Half{static_cast<std::uint16_t>(bits)});
  if (type == Type::bf16) return widen(BFloat{static_cast<std::uint16_t>(bits)});
  if (type == Type::f64) return std::bit_cast<double>(bits);
  const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return ftz ? flush(value) : value;
}

Direction direction_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz:
      return Direction::zero;
    case Rounding::rm:
      return Direction::down;
    case Rounding::rp:
      return Direction::up;
    default:
      return Direction::nearest;
  }
}

double round_to_integer(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::rni:
      return std::nearbyint(value);
    case Rounding::rzi:
      return std::trunc(value);
    case Rounding::rmi:
      return std::floor(value);
    case Rounding::rpi:
      return std::ceil(value);
    default:
      return value;
  }
}

std::uint64_t saturated_integer(Int128 value, Type type) {
  const int bits = 8 * ptx::size_bytes(type);
  const Int128 one = 1;
  const Int128 low = ptx::is_signed(type) ? -(one << (bits - 1)) : 0;
  const Int128 high = ptx::is_signed(type) ? (one << (bits - 1)) - 1 : (one << bits) - 1;
  return static_cast<std::uint64_t>(value < low ? low : value > high ? high : value);
}

std::uint64_t integer_from(double value, const Instruction& in) {
  if (value != value) {
    const int bits = 8 * ptx::size_bytes(in.type);
    if (in.source_type != Type::f64 && bits != 64) return 0;
    return (ptx::is_signed(in.type) ? ~std::uint64_t{0} : std::uint64_t{1}) << (bits - 1);
  }
  const double rounded = round_to_integer(value, in.rounding);
  if (rounded >= 0x1p64) return saturated_integer(static_cast<Int128>(1) << 65, in.type);
  if (rounded <= -0x1p64) return saturated_integer(-(static_cast<Int128>(1) << 65), in.type);
  return saturated_integer(static_cast<Int128>(rounded), in.type);
}

// .relu and .satfinite of 16-bit floats.
template <class T>
T limited(T value, const Instruction& in) {
  const float wide = widen(value);
  if (wide != wide) return value;
  const bool negative = (value.bits & 0x8000u) != 0;
  if (in.relu && negative) return T{0};
  if (in.satfinite && std::isinf(wide)) return T{static_cast<std::uint16_t>(value.bits - 1)};
  return value;
}

std::uint64_t float_bits(double value, const Instruction& in) {
  value = round_to_integer(value, in.rounding);
  if (in.sat) value = value > 0 ? (value < 1 ? value : 1) : 0;
  if (in.type == Type::f64) {
    return std::bit_cast<std::uint64_t>(value != value ? std::numeric_limits<double>::quiet_NaN() : value);
  }
  if (in.type == Type::f16) return limited(narrow_directed<Half>(value, direction_of(in.rounding)), in).bits;
  if (in.type == Type::bf16) return limited(narrow_directed<BFloat>(value, direction_of(in.rounding)), in).bits;
  float narrowed = round_directed(value, 0, direction_of(in.rounding));
  if (in.ftz) narrowed = flush(narrowed);
  return std::bit_cast<std::uint32_t>(narrowed != narrowed ? canonical_nan() : narrowed);
}

// Rounds the exact value `nearest` + `error` in a direction.
double next_in(Direction direction, double nearest, double error) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool down = direction == Direction::down || (direction == Direction::zero && nearest > 0);
  const bool up = direction == Direction::up || (direction == Direction::zero && nearest < 0);
  if (down && error < 0) return std::nextafter(nearest, -kInfinity);
  return up && error > 0 ? std::nextafter(nearest, kInfinity) : nearest;
}

std::uint64_t float_bits_of_integer(Int128 value, const Instruction& in) {
  if (in.sat) value = value > 0;
  const bool is_signed = ptx::is_signed(in.source_type);
  const double nearest = is_signed ? static_cast<double>(static_cast<std::int64_t>(value))
                                   : static_cast<double>(static_cast<std::uint64_t>(value));
  const double error = static_cast<double>(value - static_cast<Int128>(nearest));
  const Direction direction = direction_of(in.rounding);
  if (in.type == Type::f64) return std::bit_cast<std::uint64_t>(next_in(direction, nearest, error));
  if (in.type == Type::bf16) return narrow_directed<BFloat>(odd(nearest, error), direction).bits;
  if (in.type == Type::f16) return narrow_directed<Half>(odd(nearest, error), direction).bits;
  const float narrowed = direction == Direction::nearest ? static_cast<float>(odd(nearest, error))
                                                         : round_directed(nearest, error, direction);
  return std::bit_cast<std::uint32_t>(narrowed);
}

std::uint64_t convert(std::uint64_t bits, const Instruction& in) {
  if (ptx::is_float(in.source_type)) {
    const double value = float_of(bits, in.source_type, in.ftz);
    return ptx::is_float(in.type) ? float_bits(value, in) : integer_from(value, in);
  }
  const Int128 value = integer_of(bits, in.source_type);
  if (ptx::is_float(in.type)) return float_bits_of_integer(value, in);
  return in.sat ? saturated_integer(value, in.type)
                : static_cast<std::uint64_t>(integer_of(static_cast<std::uint64_t>(value), in.type));
}

template <class D, class S>
const Op* op_convert(Launch&, Warp& warp, const Op* op) {
  const S* a = warp.lanes<S>(op->s[1]);
  D* d = warp.lanes<D>(op->s[0]);
  for (int l = 0; l < kWarpSize; ++l) {
    if ((warp.mask >> l & 1u) != 0) d[l] = static_cast<D>(convert(a[l], *op->instruction));
  }
  return op + 1;
}

// Converts two floats to a packed pair, with .relu or .satfinite.
const Op* op_convert_pair(Launch&, Warp& warp, const Op* op) {
  ptx::Instruction one = *op->instruction;
  one.type = one.type == Type::f16x2 ? Type::f16 : Type::bf16;
  const std::uint32_t* high = warp.lanes<std::uint32_t>(op->s[1]);
  const std::uint32_t* low = warp.lanes<std::uint32_t>(op->s[2]);
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask,
            [&](int l) { return static_cast<std::uint32_t>(convert(high[l], one) << 16 | convert(low[l], one)); });
  return op + 1;
}

// Conversions from f32 to a 16-bit float, and back. cvt.f16x2.f32 d, a, b puts a into the upper half.
template <class T, bool to_zero>
inline T narrow_lane(float x) {
  return to_zero ? narrow_directed<T>(x, Direction::zero) : narrow<T>(x);
}

template <class T, bool to_zero>
const Op* op_narrow(Launch&, Warp& warp, const Op* op) {
  const float* a = warp.lanes<float>(op->s[1]);
  for_lanes(warp.lanes<std::uint16_t>(op->s[0]), warp.mask, [&](int l) { return narrow_lane<T, to_zero>(a[l]).bits; });
  return op + 1;
}

template <class T, bool to_zero>
const Op* op_narrow_pair(Launch&, Warp& warp, const Op* op) {
  const float* high = warp.lanes<float>(op->s[1]);
  const float* low = warp.lanes<float>(op->s[2]);
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) {
    return static_cast<std::uint32_t>(narrow_lane<T, to_zero>(high[l]).bits) << 16 |
           narrow_lane<T, to_zero>(low[l]).bits;
  });
  return op + 1;
}

template <class T>
const Op* op_widen(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  for_lanes(warp.lanes<float>(op->s[0]), warp.mask, [&](int l) {
    const float value = widen(a[l]);
    return value != value ? canonical_nan() : value;
  });
  return op + 1;
}

template <class T>
Handler narrow_handler(const Instruction& in) {
  const bool to_zero = in.rounding == Rounding::rz;
  if (ptx::is_pair(in.type)) return to_zero ? op_narrow_pair<T, true> : op_narrow_pair<T, false>;
  return to_zero ? op_narrow<T, true> : op_narrow<T, false>;
}

// cvt.rna.tf32.f32: to the nearest number of 11 significant bits, ties away from zero.
const Op* op_narrow_tf32(Launch&, Warp& warp, const Op* op) {
  const bool satfinite = op->instruction->satfinite;
  const std::uint32_t* a = warp.lanes<std::uint32_t>(op->s[1]);
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) {
    const bool nan = (a[l] & 0x7fff'ffffu) > 0x7f80'0000u;
    const bool beyond = satfinite && (a[l] & 0x7fff'ffffu) > 0x7f7f'efffu && !nan;
    if (beyond) return (a[l] & 0x8000'0000u) | 0x7f7f'e000u;
    return nan ? std::bit_cast<std::uint32_t>(canonical_nan()) : (a[l] + 0x1000u) & 0xffff'e000u;
  });
  return op + 1;
}

// Frequent conversions of 16-bit floats and tf32; nullptr for all others.
Handler narrow_convert_handler(const Instruction& in, int result_bytes, int source_bytes) {
  if (in.ftz || in.sat || (in.type != Type::tf32 && (in.relu || in.satfinite))) return nullptr;
  const bool plain = in.rounding == Rounding::rn || in.rounding == Rounding::rz;
  if (in.type == Type::tf32 && result_bytes == 4 && source_bytes == 4) return op_narrow_tf32;
  if (in.source_type == Type::f32 && source_bytes == 4 && plain) {
    if (in.type == Type::f16x2 || (in.type == Type::f16 && result_bytes == 2)) return narrow_handler<Half>(in);
    if (in.type == Type::bf16x2 || in.type == Type::bf16) return narrow_handler<BFloat>(in);
  }
  if (in.type == Type::f32 && result_bytes == 4 && source_bytes == 2) {
    if (in.source_type == Type::f16) return op_widen<Half>;
    if (in.source_type == Type::bf16) return op_widen<BFloat>;
  }
  return nullptr;
}

template <class D>
Handler cast_from(Type source) {
  switch (source) {
    case Type::u16:
      return op_cast<D, std::uint16_t>;
    case Type::s16:
      return op_cast<D, std::int16_t>;
    case Type::u32:
      return op_cast<D, std::uint32_t>;
    case Type::s32:
      return op_cast<D, std::int32_t>;
    case Type::u64:
      return op_cast<D, std::uint64_t>;
    case Type::s64:
      return op_cast<D, std::int64_t>;
    default:
      return nullptr;
  }
}

// Conversions that are plain casts, with types as wide as their registers; nullptr for all others.
Handler cast_handler(const Instruction& in, int result_bytes, int source_bytes) {
  const bool nearest = in.rounding == Rounding::none || in.rounding == Rounding::rn;
  if (in.sat || !nearest || ptx::size_bytes(in.type) != result_bytes || ptx::size_bytes(in.source_type) != source_bytes)
    return nullptr;
  switch (in.type) {
    case Type::u16:
    case Type::s16:
      return cast_from<std::uint16_t>(in.source_type);
    case Type::u32:
    case Type::s32:
      return cast_from<std::uint32_t>(in.source_type);
    case Type::u64:
    case Type::s64:
      return cast_from<std::uint64_t>(in.source_type);
    case Type::f32:
      if (in.source_type == Type::f64) return in.ftz ? nullptr : op_cast<float, double>;
      return cast_from<float>(in.source_type);
    case Type::f64:
      if (in.source_type == Type::f32) return in.ftz ? nullptr : op_cast<double, float>;
      return cast_from<double>(in.source_type);
    default:
      return nullptr;
  }
}

template <class D>
Handler convert_from(int source_bytes) {
  switch (source_bytes) {
    case 2:
      return op_convert<D, std::uint16_t>;
    case 4:
      return op_convert<D, std::uint32_t>;
    case 8:
      return op_convert<D, std::uint64_t>;
    default:
      return nullptr;
  }
}

// Conversions with a handler of their own; nullptr for all others.
Handler quick_convert_handler(const Instruction& in, int result_bytes, int source_bytes) {
  if (const Handler narrow = narrow_convert_handler(in, result_bytes, source_bytes)) return narrow;
  if (const Handler cast = cast_handler(in, result_bytes, source_bytes)) return cast;
  const bool from_word = source_bytes == 4;  // false if the source is in a wider register
  if (from_word && in.source_type == Type::f32 && in.rounding == Rounding::rzi && !in.ftz && result_bytes == 4) {
    if (in.type == Type::s32) return op_truncate<std::int32_t>;
    if (in.type == Type::u32) return op_truncate<std::uint32_t>;
  }
  return nullptr;
}

}  // namespace

bool converts_quickly(const Instruction& in, int result_bytes, int source_bytes) {
  return in.rounding != Rounding::rz && quick_convert_handler(in, result_bytes, source_bytes) != nullptr;
}

Handler convert_handler(const Instruction& in, int result_bytes, int source_bytes) {
  if (const Handler quick = quick_convert_handler(in, result_bytes, source_bytes)) return quick;
  if (ptx::is_pair(in.type)) return op_convert_pair;
  switch (result_bytes) {
    case 2:
      return convert_from<std::uint16_t>(source_bytes);
    case 4:
      return convert_from<std::uint32_t>(source_bytes);
    case 8:
      return convert_from<std::uint64_t>(source_bytes);
    default:
      return nullptr;
  }
}

Handler convert_handler_of_lane_0(const Instruction& in, int result_bytes, int source_bytes) {
  const TypeSet words = ptx::kU32 | ptx::kS32, double_words = ptx::kU64 | ptx::kS64;
  const auto is = [](Type type, TypeSet set) { return (ptx::bit(type) & set) != 0; };
  if (in.sat || !is(in.type, words | double_words) || !is(in.source_type, words | double_words)) return nullptr;
  if (ptx::size_bytes(in.type) != result_bytes || ptx::size_bytes(in.source_type) != source_bytes) return nullptr;
  if (is(in.type, words)) {
    return is(in.source_type, words) ? move_handler_of_lane_0(4) : op_cast_of_lane_0<std::uint32_t, std::uint64_t>;
  }
  if (is(in.source_type, double_words)) return move_handler_of_lane_0(8);
  return in.source_type == Type::s32 ? op_cast_of_lane_0<std::int64_t, std::int32_t>
                                     : op_cast_of_lane_0<std::uint64_t, std::uint32_t>;
}

}  // namespace roofwalk::vgpu
