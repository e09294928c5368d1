// Handlers that move, convert, compare and exchange values between lanes.
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "common/vgpu/handlers.h"
#include "common/vgpu/int128.h"
#include "common/vgpu/lanes.h"
#include "common/vgpu/math.h"
#include "common/vgpu/members.h"
#include "common/vgpu/semantics.h"

namespace roofwalk::vgpu {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Instruction;
using ptx::Rounding;
using ptx::ShuffleMode;
using ptx::Type;
using ptx::TypeSet;
using ptx::VoteMode;

template <class T>
const Op* op_move(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return a[l]; });
  return op + 1;
}

const Op* op_move_predicate(Launch&, Warp& warp, const Op* op) {
  set_predicate(warp.predicate(op->s[0]), warp.mask, warp.predicate(op->s[1]));
  return op + 1;
}

template <class Whole, class Part, int parts>
const Op* op_pack(Launch&, Warp& warp, const Op* op) {
  for_lanes(warp.lanes<Whole>(op->s[0]), warp.mask, [&](int l) {
    Whole value = 0;
    for (int i = parts - 1; i >= 0; --i) {
      value = static_cast<Whole>(value << (8 * sizeof(Part) - 1) << 1 | warp.lanes<Part>(op->s[1 + i])[l]);
    }
    return value;
  });
  return op + 1;
}

template <class Whole, class Part, int parts>
const Op* op_unpack(Launch&, Warp& warp, const Op* op) {
  // The source may be one of the results, so it is read whole first.
  std::array<Whole, kWarpSize> whole;
  std::memcpy(whole.data(), warp.lanes<Whole>(op->s[parts]), sizeof whole);
  for (int i = 0; i < parts; ++i) {
    if (op->s[i] == kNoSlot) continue;
    for_lanes(warp.lanes<Part>(op->s[i]), warp.mask,
              [&](int l) { return static_cast<Part>(whole[l] >> (8 * sizeof(Part) * i)); });
  }
  return op + 1;
}

template <class T>
const Op* op_select(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const T* b = warp.lanes<T>(op->s[2]);
  const std::uint32_t predicate = warp.predicate(op->s[3]);
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return (predicate >> l & 1u) != 0 ? a[l] : b[l]; });
  return op + 1;
}

template <class T>
const Op* op_add_offset(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const auto offset = static_cast<T>(op->offset);
  for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return a[l] + offset; });
  return op + 1;
}

// The same for lane 0 alone.
template <class T>
const Op* op_move_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<T>(op->s[0]) = *warp.lanes<T>(op->s[1]);
  return op + 1;
}
template <class T>
const Op* op_select_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<T>(op->s[0]) = *warp.lanes<T>((warp.predicate(op->s[3]) & 1u) != 0 ? op->s[1] : op->s[2]);
  return op + 1;
}
template <class T>
const Op* op_add_offset_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<T>(op->s[0]) = *warp.lanes<T>(op->s[1]) + static_cast<T>(op->offset);
  return op + 1;
}
template <class D, class S>
const Op* op_cast_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<D>(op->s[0]) = static_cast<D>(*warp.lanes<S>(op->s[1]));
  return op + 1;
}

// Conversions between integers of two register widths, the usual ones: truncation, zero and sign extension.
template <class D, class S>
const Op* op_cast(Launch&, Warp& warp, const Op* op) {
  const S* a = warp.lanes<S>(op->s[1]);
  for_lanes(warp.lanes<D>(op->s[0]), warp.mask, [&](int l) { return static_cast<D>(a[l]); });
  return op + 1;
}

// cvt.rzi of float, as casts are: NaN becomes 0, what is beyond the ends becomes the nearer one.
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

// Every other conversion, lane by lane through the widest type that holds the source exactly.
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

// The exact nearest + error, rounded in a direction.
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

// Pairs with .relu or .satfinite.
const Op* op_convert_pair(Launch&, Warp& warp, const Op* op) {
  ptx::Instruction one = *op->instruction;
  one.type = one.type == Type::f16x2 ? Type::f16 : Type::bf16;
  const std::uint32_t* high = warp.lanes<std::uint32_t>(op->s[1]);
  const std::uint32_t* low = warp.lanes<std::uint32_t>(op->s[2]);
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask,
            [&](int l) { return static_cast<std::uint32_t>(convert(high[l], one) << 16 | convert(low[l], one)); });
  return op + 1;
}

// f32 to a 16-bit float, and back; cvt.f16x2.f32 d, a, b puts a into the upper half.
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

// cvt.rna.tf32.f32: to nearest of 11 significant bits, ties away from zero.
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

// Those of narrow floats that kernels use a lot; nullptr for the others.
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

// Comparisons. The plain ones are ordered: false where an operand is NaN; the ...u ones are true there.
struct Eq {
  template <class T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool apply(T a, T b) {
    return a == a && b == b && a != b;
  }
};
struct Lt {
  template <class T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};
struct Num {
  template <class T>
  static bool apply(T a, T b) {
    return a == a && b == b;
  }
};
template <class C>
struct OrNan {
  template <class T>
  static bool apply(T a, T b) {
    return C::apply(a, b) || a != a || b != b;
  }
};
struct Nan {
  template <class T>
  static bool apply(T a, T b) {
    return a != a || b != b;
  }
};

template <class C, bool ftz = false, class T>
bool compare(T a, T b) {
  if constexpr (kIsNarrow<T>)
    return C::apply(widen(a), widen(b));
  else if constexpr (ftz)
    return C::apply(flush(a), flush(b));
  else
    return C::apply(a, b);
}

// Joins the comparison's bits with the third source and writes the two results.
const Op* put_predicates(Warp& warp, const Op* op, std::uint32_t first, std::uint32_t second) {
  if (op->s[4] != kNoSlot) {
    const std::uint32_t other = warp.predicate(op->s[4]) ^ (op->offset != 0 ? kAllLanes : 0u);
    switch (op->instruction->bool_op) {
      case BoolOp::and_:
        first &= other, second &= other;
        break;
      case BoolOp::or_:
        first |= other, second |= other;
        break;
      case BoolOp::xor_:
        first ^= other, second ^= other;
        break;
      case BoolOp::none:
        break;
    }
  }
  if (op->s[0] != kNoSlot) set_predicate(warp.predicate(op->s[0]), warp.mask, first);
  if (op->s[1] != kNoSlot) set_predicate(warp.predicate(op->s[1]), warp.mask, second);
  return op + 1;
}

template <class C, class T, bool ftz>
struct SetPredicates {
  static const Op* run(Launch&, Warp& warp, const Op* op) {
    const T* a = warp.lanes<T>(op->s[2]);
    const T* b = warp.lanes<T>(op->s[3]);
    const std::uint32_t bits = lane_bits([&](int l) { return compare<C, ftz>(a[l], b[l]); });
    return put_predicates(warp, op, bits, ~bits);
  }
};

template <class C, class T, bool ftz>
struct SetPredicatesByLane0 {
  static const Op* run(Launch&, Warp& warp, const Op* op) {
    const bool holds = compare<C, ftz>(*warp.lanes<T>(op->s[2]), *warp.lanes<T>(op->s[3]));
    return put_predicates(warp, op, holds ? kAllLanes : 0u, holds ? 0u : kAllLanes);
  }
};

// Of packed floats: the first result is of the lower halves, the second of the upper ones.
template <class C, class T, bool>
struct SetPairPredicates {
  static const Op* run(Launch&, Warp& warp, const Op* op) {
    const T* a = warp.lanes<T>(op->s[2]);
    const T* b = warp.lanes<T>(op->s[3]);
    const std::uint32_t low = lane_bits([&](int l) { return compare<C>(a[2 * l], b[2 * l]); });
    const std::uint32_t high = lane_bits([&](int l) { return compare<C>(a[2 * l + 1], b[2 * l + 1]); });
    return put_predicates(warp, op, low, high);
  }
};

// set: where the comparison holds, the bits in `offset`, else 0.
template <class R>
struct SetValues {
  template <class C, class T, bool>
  struct Of {
    static const Op* run(Launch&, Warp& warp, const Op* op) {
      const T* a = warp.lanes<T>(op->s[1]);
      const T* b = warp.lanes<T>(op->s[2]);
      const auto truth = static_cast<R>(op->offset);
      for_lanes(warp.lanes<R>(op->s[0]), warp.mask, [&](int l) { return compare<C>(a[l], b[l]) ? truth : R{0}; });
      return op + 1;
    }
  };
};
template <class C, class T, bool>
struct SetPairValues {
  static const Op* run(Launch&, Warp& warp, const Op* op) {
    const T* a = warp.lanes<T>(op->s[1]);
    const T* b = warp.lanes<T>(op->s[2]);
    const auto truth = static_cast<std::uint32_t>(op->offset);
    for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) {
      return (compare<C>(a[2 * l], b[2 * l]) ? truth & 0xffffu : 0u) |
             (compare<C>(a[2 * l + 1], b[2 * l + 1]) ? truth & 0xffff'0000u : 0u);
    });
    return op + 1;
  }
};

// Run<comparison, T, ftz>::run is the handler.
template <template <class, class, bool> class Run, class T, bool ftz = false>
Handler compare_for(Compare compare) {
  constexpr bool kFloat = std::is_floating_point_v<T> || kIsNarrow<T>;
  switch (compare) {
    case Compare::eq:
      return Run<Eq, T, ftz>::run;
    case Compare::ne:
      return Run<Ne, T, ftz>::run;
    case Compare::lt:
    case Compare::lo:
      return Run<Lt, T, ftz>::run;
    case Compare::le:
    case Compare::ls:
      return Run<Le, T, ftz>::run;
    case Compare::gt:
    case Compare::hi:
      return Run<Gt, T, ftz>::run;
    case Compare::ge:
    case Compare::hs:
      return Run<Ge, T, ftz>::run;
    default:
      break;
  }
  if constexpr (kFloat) {
    switch (compare) {
      case Compare::equ:
        return Run<OrNan<Eq>, T, ftz>::run;
      case Compare::neu:
        return Run<OrNan<Ne>, T, ftz>::run;
      case Compare::ltu:
        return Run<OrNan<Lt>, T, ftz>::run;
      case Compare::leu:
        return Run<OrNan<Le>, T, ftz>::run;
      case Compare::gtu:
        return Run<OrNan<Gt>, T, ftz>::run;
      case Compare::geu:
        return Run<OrNan<Ge>, T, ftz>::run;
      case Compare::num:
        return Run<Num, T, ftz>::run;
      case Compare::nan:
        return Run<Nan, T, ftz>::run;
      default:
        break;
    }
  }
  return nullptr;
}

}  // namespace

Handler move_handler(int size_bytes) {
  switch (size_bytes) {
    case 0:
      return op_move_predicate;
    case 2:
      return op_move<std::uint16_t>;
    case 4:
      return op_move<std::uint32_t>;
    case 8:
      return op_move<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler pack_handler(int parts, int part_bytes) {
  if (parts == 2 && part_bytes == 2) return op_pack<std::uint32_t, std::uint16_t, 2>;
  if (parts == 2 && part_bytes == 4) return op_pack<std::uint64_t, std::uint32_t, 2>;
  if (parts == 4 && part_bytes == 2) return op_pack<std::uint64_t, std::uint16_t, 4>;
  return nullptr;
}

Handler unpack_handler(int parts, int part_bytes) {
  if (parts == 2 && part_bytes == 2) return op_unpack<std::uint32_t, std::uint16_t, 2>;
  if (parts == 2 && part_bytes == 4) return op_unpack<std::uint64_t, std::uint32_t, 2>;
  if (parts == 4 && part_bytes == 2) return op_unpack<std::uint64_t, std::uint16_t, 4>;
  return nullptr;
}

Handler select_handler(int size_bytes) {
  switch (size_bytes) {
    case 2:
      return op_select<std::uint16_t>;
    case 4:
      return op_select<std::uint32_t>;
    case 8:
      return op_select<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler add_offset_handler(int size_bytes) {
  return size_bytes == 8 ? op_add_offset<std::uint64_t> : size_bytes == 4 ? op_add_offset<std::uint32_t> : nullptr;
}

Handler convert_handler(const Instruction& in, int result_bytes, int source_bytes) {
  const bool directed = in.rounding == Rounding::rz || in.rounding == Rounding::rm || in.rounding == Rounding::rp;
  if (const Handler narrow = narrow_convert_handler(in, result_bytes, source_bytes)) return narrow;
  if (ptx::is_pair(in.type)) return op_convert_pair;
  const bool from_word = source_bytes == 4;  // a source may stand in a wider register
  if (from_word && !in.sat && in.type == Type::s64 && in.source_type == Type::s32) {
    return op_cast<std::int64_t, std::int32_t>;
  }
  if (from_word && !in.sat && in.type == Type::u64 && in.source_type == Type::u32) {
    return op_cast<std::uint64_t, std::uint32_t>;
  }
  if (!in.sat && in.type == Type::u32 && in.source_type == Type::u64 && result_bytes == 4) {
    return op_cast<std::uint32_t, std::uint64_t>;
  }
  if (from_word && in.type == Type::f32 && in.source_type == Type::s32 && !in.sat && !directed) {
    return op_cast<float, std::int32_t>;
  }
  if (from_word && in.source_type == Type::f32 && in.rounding == Rounding::rzi && !in.ftz && result_bytes == 4) {
    if (in.type == Type::s32) return op_truncate<std::int32_t>;
    if (in.type == Type::u32) return op_truncate<std::uint32_t>;
  }
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

Handler compare_handler(const Instruction& in) {
  switch (in.type) {
    case Type::u16:
    case Type::b16:
      return compare_for<SetPredicates, std::uint16_t>(in.compare);
    case Type::s16:
      return compare_for<SetPredicates, std::int16_t>(in.compare);
    case Type::u32:
    case Type::b32:
      return compare_for<SetPredicates, std::uint32_t>(in.compare);
    case Type::s32:
      return compare_for<SetPredicates, std::int32_t>(in.compare);
    case Type::u64:
    case Type::b64:
      return compare_for<SetPredicates, std::uint64_t>(in.compare);
    case Type::s64:
      return compare_for<SetPredicates, std::int64_t>(in.compare);
    case Type::f16:
      return compare_for<SetPredicates, Half>(in.compare);
    case Type::f16x2:
      return compare_for<SetPairPredicates, Half>(in.compare);
    case Type::bf16:
      return compare_for<SetPredicates, BFloat>(in.compare);
    case Type::bf16x2:
      return compare_for<SetPairPredicates, BFloat>(in.compare);
    case Type::f32:
      return in.ftz ? compare_for<SetPredicates, float, true>(in.compare)
                    : compare_for<SetPredicates, float>(in.compare);
    case Type::f64:
      return compare_for<SetPredicates, double>(in.compare);
    default:
      return nullptr;
  }
}

Handler set_handler(const Instruction& in) {
  const bool wide = ptx::size_bytes(in.type) == 4;
  switch (in.source_type) {
    case Type::f16:
      return wide ? compare_for<SetValues<std::uint32_t>::Of, Half>(in.compare)
                  : compare_for<SetValues<std::uint16_t>::Of, Half>(in.compare);
    case Type::bf16:
      return wide ? compare_for<SetValues<std::uint32_t>::Of, BFloat>(in.compare)
                  : compare_for<SetValues<std::uint16_t>::Of, BFloat>(in.compare);
    case Type::f16x2:
      return compare_for<SetPairValues, Half>(in.compare);
    case Type::bf16x2:
      return compare_for<SetPairValues, BFloat>(in.compare);
    case Type::f32:
      return compare_for<SetValues<std::uint32_t>::Of, float>(in.compare);
    default:
      return nullptr;
  }
}

Handler move_handler_of_lane_0(int size_bytes) {
  switch (size_bytes) {
    case 2:
      return op_move_of_lane_0<std::uint16_t>;
    case 4:
      return op_move_of_lane_0<std::uint32_t>;
    case 8:
      return op_move_of_lane_0<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler select_handler_of_lane_0(int size_bytes) {
  switch (size_bytes) {
    case 2:
      return op_select_of_lane_0<std::uint16_t>;
    case 4:
      return op_select_of_lane_0<std::uint32_t>;
    case 8:
      return op_select_of_lane_0<std::uint64_t>;
    default:
      return nullptr;
  }
}

Handler add_offset_handler_of_lane_0(int size_bytes) {
  return size_bytes == 8 ? op_add_offset_of_lane_0<std::uint64_t> : nullptr;
}

Handler convert_handler_of_lane_0(const Instruction& in, int result_bytes, int source_bytes) {
  const TypeSet words = ptx::kU32 | ptx::kS32, double_words = ptx::kU64 | ptx::kS64;
  const auto is = [](Type type, TypeSet set) { return (ptx::bit(type) & set) != 0; };
  if (in.sat || !is(in.type, words | double_words) || !is(in.source_type, words | double_words)) return nullptr;
  if (ptx::size_bytes(in.type) != result_bytes || ptx::size_bytes(in.source_type) != source_bytes) return nullptr;
  if (is(in.type, words)) {
    return is(in.source_type, words) ? op_move_of_lane_0<std::uint32_t>
                                     : op_cast_of_lane_0<std::uint32_t, std::uint64_t>;
  }
  if (is(in.source_type, double_words)) return op_move_of_lane_0<std::uint64_t>;
  return in.source_type == Type::s32 ? op_cast_of_lane_0<std::int64_t, std::int32_t>
                                     : op_cast_of_lane_0<std::uint64_t, std::uint32_t>;
}

Handler compare_handler_of_lane_0(const Instruction& in) {
  switch (in.type) {
    case Type::u32:
    case Type::b32:
      return compare_for<SetPredicatesByLane0, std::uint32_t>(in.compare);
    case Type::s32:
      return compare_for<SetPredicatesByLane0, std::int32_t>(in.compare);
    case Type::u64:
    case Type::b64:
      return compare_for<SetPredicatesByLane0, std::uint64_t>(in.compare);
    case Type::s64:
      return compare_for<SetPredicatesByLane0, std::int64_t>(in.compare);
    default:
      return nullptr;
  }
}

const Op* op_shuffle(Launch& launch, Warp& warp, const Op* op) {
  if (!meet_members(launch, warp, op, op->s[5], "__shfl_..._sync()")) return nullptr;
  std::array<std::uint32_t, kWarpSize> values;
  std::memcpy(values.data(), warp.lanes<std::uint32_t>(op->s[2]), sizeof values);
  const std::uint32_t* b = warp.lanes<std::uint32_t>(op->s[3]);
  const std::uint32_t* c = warp.lanes<std::uint32_t>(op->s[4]);
  std::array<std::uint32_t, kWarpSize> out = values;
  std::uint32_t in_range = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const int clamp = static_cast<int>(c[lane] & 31u), segment = static_cast<int>(c[lane] >> 8 & 31u);
    const int delta = static_cast<int>(b[lane] & 31u);
    const int lowest = lane & segment, highest = lowest | (clamp & ~segment);
    int from = lane;
    bool valid = false;
    switch (op->instruction->shuffle) {
      case ShuffleMode::up:
        from = lane - delta, valid = from >= highest;
        break;
      case ShuffleMode::down:
        from = lane + delta, valid = from <= highest;
        break;
      case ShuffleMode::bfly:
        from = lane ^ delta, valid = from <= highest;
        break;
      case ShuffleMode::idx:
        from = lowest | (delta & ~segment), valid = from <= highest;
        break;
      case ShuffleMode::none:
        break;
    }
    if (valid) in_range |= 1u << lane, out[lane] = values[from];
  }
  if (op->s[0] != kNoSlot) {
    for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) { return out[l]; });
  }
  if (op->s[1] != kNoSlot) set_predicate(warp.predicate(op->s[1]), warp.mask, in_range);
  return op + 1;
}

const Op* op_vote(Launch& launch, Warp& warp, const Op* op) {
  if (!meet_members(launch, warp, op, op->s[2], "the vote")) return nullptr;
  const std::uint32_t holds = warp.predicate(op->s[1]) ^ (op->offset != 0 ? kAllLanes : 0u);
  for_each_group(warp, warp.lanes<std::uint32_t>(op->s[2]), [&](std::uint32_t members) {
    const std::uint32_t bits = holds & members;
    switch (op->instruction->vote) {
      case VoteMode::ballot:
        for_lanes(warp.lanes<std::uint32_t>(op->s[0]), members, [&](int) { return bits; });
        break;
      case VoteMode::all:
        set_predicate(warp.predicate(op->s[0]), members, bits == members ? kAllLanes : 0u);
        break;
      case VoteMode::any:
        set_predicate(warp.predicate(op->s[0]), members, bits != 0 ? kAllLanes : 0u);
        break;
      case VoteMode::uni:
        set_predicate(warp.predicate(op->s[0]), members, bits == members || bits == 0 ? kAllLanes : 0u);
        break;
      case VoteMode::none:
        break;
    }
  });
  return op + 1;
}

const Op* op_active_mask(Launch&, Warp& warp, const Op* op) {
  const std::uint32_t mask = warp.mask;
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), mask, [&](int) { return mask; });
  return op + 1;
}

}  // namespace roofwalk::vgpu
