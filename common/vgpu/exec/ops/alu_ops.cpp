// Arithmetic and logic: one template makes the handlers of all rows of the opcode table.
#include <array>
#include <cstring>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/semantics.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::MulMode;
using ptx::Opcode;
using ptx::Operands;
using ptx::OperandType;
using ptx::Rounding;
using ptx::Type;

// The C++ type of source `index`.
template <class T, Operands operands, int index>
using Source = std::conditional_t<operands.sources[index] == OperandType::count, std::uint32_t, T>;

// Whether a NaN in the result keeps the operand's payload. All other arithmetic returns PTX's canonical NaN, so that
// results are the same on every host.
template <class Sem>
inline constexpr bool kKeepsPayload =
    std::is_same_v<Sem, sem::Abs> || std::is_same_v<Sem, sem::Neg> || std::is_same_v<Sem, sem::Copysign>;

template <class Sem, class R>
inline R finish(R value) {
  if constexpr (std::is_same_v<R, float> && !kKeepsPayload<Sem>)
    return value != value ? canonical_nan() : value;
  else if constexpr (std::is_same_v<R, double> && !kKeepsPayload<Sem>) {
    return value != value ? std::numeric_limits<double>::quiet_NaN() : value;
  } else {
    return value;
  }
}

// Products of subnormal numbers are slow on some processors, such as a Zen 5 (benchmark `divergent`). Inactive lanes
// hold old bits of the register, often small integers, which are subnormal as floats. So multiplications take 0 for the
// sources of inactive lanes.
template <class Sem, class T>
inline constexpr bool kShunsLeftovers = std::is_floating_point_v<T> &&
                                        (std::is_same_v<Sem, sem::Mul> || std::is_same_v<Sem, sem::Mad> ||
                                         std::is_same_v<Sem, sem::Fma>);

template <class Sem, class T, Operands operands, class Modify>
inline void apply_lanes(Warp& warp, const Op* op, Modify modify) {
  if constexpr (kShunsLeftovers<Sem, T>) {
    if (const std::uint32_t mask = warp.mask; mask != kAllLanes) {
      alignas(64) T in[operands.source_count()][kWarpSize];
      for (int i = 0; i < operands.source_count(); ++i) {
        const T* const from = warp.lanes<T>(op->s[i + 1]);
        for (int l = 0; l < kWarpSize; ++l) in[i][l] = is_active<T>(mask, l) ? from[l] : T{0};
      }
      for_lanes(warp.lanes<T>(op->s[0]), mask, [&](int l) {
        if constexpr (operands.source_count() == 2)
          return modify(Sem{}, in[0][l], in[1][l]);
        else
          return modify(Sem{}, in[0][l], in[1][l], in[2][l]);
      });
      return;
    }
  }
  const auto* a = warp.lanes<Source<T, operands, 0>>(op->s[1]);
  if constexpr (operands.source_count() == 1) {
    using R = decltype(Sem::apply(T{}));
    for_lanes(warp.lanes<R>(op->s[0]), warp.mask, [&](int l) { return modify(Sem{}, a[l]); });
  } else if constexpr (operands.source_count() == 2) {
    const auto* b = warp.lanes<Source<T, operands, 1>>(op->s[2]);
    for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return modify(Sem{}, a[l], b[l]); });
  } else if constexpr (operands.source_count() == 3) {
    const auto* b = warp.lanes<Source<T, operands, 1>>(op->s[2]);
    const auto* c = warp.lanes<Source<T, operands, 2>>(op->s[3]);
    for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return modify(Sem{}, a[l], b[l], c[l]); });
  } else {
    const auto* b = warp.lanes<Source<T, operands, 1>>(op->s[2]);
    const auto* c = warp.lanes<Source<T, operands, 2>>(op->s[3]);
    const auto* d = warp.lanes<Source<T, operands, 3>>(op->s[4]);
    for_lanes(warp.lanes<T>(op->s[0]), warp.mask, [&](int l) { return modify(Sem{}, a[l], b[l], c[l], d[l]); });
  }
}

template <class Sem, class T, Operands operands>
const Op* op_plain(Launch&, Warp& warp, const Op* op) {
  apply_lanes<Sem, T, operands>(warp, op, [](auto s, auto... in) { return finish<Sem>(decltype(s)::apply(in...)); });
  return op + 1;
}

// Like op_plain, on lane 0 only.
template <class Sem, class T, Operands operands>
const Op* op_plain_of_lane_0(Launch&, Warp& warp, const Op* op) {
  const auto a = *warp.lanes<Source<T, operands, 0>>(op->s[1]);
  if constexpr (operands.source_count() == 1) {
    using R = decltype(Sem::apply(T{}));
    *warp.lanes<R>(op->s[0]) = finish<Sem>(Sem::apply(a));
  } else if constexpr (operands.source_count() == 2) {
    *warp.lanes<T>(op->s[0]) = finish<Sem>(Sem::apply(a, *warp.lanes<Source<T, operands, 1>>(op->s[2])));
  } else if constexpr (operands.source_count() == 3) {
    *warp.lanes<T>(op->s[0]) = finish<Sem>(
        Sem::apply(a, *warp.lanes<Source<T, operands, 1>>(op->s[2]), *warp.lanes<Source<T, operands, 2>>(op->s[3])));
  } else {
    *warp.lanes<T>(op->s[0]) = finish<Sem>(Sem::apply(a, *warp.lanes<Source<T, operands, 1>>(op->s[2]),
                                                      *warp.lanes<Source<T, operands, 2>>(op->s[3]),
                                                      *warp.lanes<Source<T, operands, 3>>(op->s[4])));
  }
  return op + 1;
}

// The modifier .ftz of f32: subnormals become zeros of the same sign.
template <class Sem, Operands operands>
const Op* op_flushed(Launch&, Warp& warp, const Op* op) {
  apply_lanes<Sem, float, operands>(
      warp, op, [](auto s, auto... raw) { return finish<Sem>(flush(decltype(s)::apply(flush(raw)...))); });
  return op + 1;
}

// The modifier .sat: results are clamped to [0, 1]; NaN becomes 0.
inline float clamped(float value) { return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; }
template <class T>
inline T clamped(T narrow) {
  const float value = widen(narrow);
  return value > 0.0f ? (value < 1.0f ? narrow : T{T::kOne}) : T{0};
}

// Clamps the results of the active lanes. `packed`: how many there are in a lane.
template <class T, int packed>
[[gnu::noinline]] const Op* clamp_results(Warp& warp, const Op* op) {
  T* const out = warp.lanes<T>(op->s[0]);
  for (int i = 0; i < kWarpSize * packed; ++i) {
    if ((warp.mask >> (i / packed) & 1u) != 0) out[i] = clamped(out[i]);
  }
  return op + 1;
}
template <Handler unclamped, class T, int packed = 1>
const Op* op_clamped(Launch& launch, Warp& warp, const Op* op) {
  unclamped(launch, warp, op);
  return clamp_results<T, packed>(warp, op);
}

// f32 arithmetic with a directed rounding.
template <class Sem>
float directed(float a, float b, float c, Direction direction) {
  if constexpr (std::is_same_v<Sem, sem::Add>)
    return fma_directed(a, 1.0f, b, direction);
  else if constexpr (std::is_same_v<Sem, sem::Sub>)
    return fma_directed(a, 1.0f, -b, direction);
  else if constexpr (std::is_same_v<Sem, sem::Mul>)
    return fma_directed(a, b, std::signbit(a) == std::signbit(b) ? 0.0f : -0.0f, direction);  // keeps a zero's sign
  else
    return fma_directed(a, b, c, direction);
}

template <class Sem>
inline constexpr bool kCanBeDirected =
    std::is_same_v<Sem, sem::Add> || std::is_same_v<Sem, sem::Sub> || std::is_same_v<Sem, sem::Mul> ||
    std::is_same_v<Sem, sem::Fma> || std::is_same_v<Sem, sem::Mad>;

// Directed roundings are rare, so the handler examines the instruction for each lane.
template <class Sem, Operands operands>
const Op* op_directed(Launch&, Warp& warp, const Op* op) {
  const Instruction& in = *op->instruction;
  const Direction direction = in.rounding == Rounding::rz   ? Direction::zero
                              : in.rounding == Rounding::rm ? Direction::down
                                                            : Direction::up;
  apply_lanes<Sem, float, operands>(warp, op, [&in, direction](auto, auto... raw) {
    const auto three = [](float a, float b, float c = 0.0f) { return std::array{a, b, c}; };
    const auto [a, b, c] = in.ftz ? three(flush(raw)...) : three(raw...);
    const float value = directed<Sem>(a, b, c, direction);
    const float flushed = in.ftz ? flush(value) : value;
    return finish<Sem>(in.sat ? clamped(flushed) : flushed);
  });
  return op + 1;
}

template <class Sem, Operands operands>
Handler modified_handler(const Instruction& in) {
  const bool directed = in.rounding == Rounding::rz || in.rounding == Rounding::rm || in.rounding == Rounding::rp;
  if constexpr (kCanBeDirected<Sem>) {
    if (directed) return op_directed<Sem, operands>;
  }
  if (in.ftz) return in.sat ? op_clamped<op_flushed<Sem, operands>, float> : op_flushed<Sem, operands>;
  return in.sat ? op_clamped<op_plain<Sem, float, operands>, float> : nullptr;
}

// Arithmetic on 16-bit floats. `elements`: how many of them 32 lanes hold (64 if packed).
template <class Sem, class T, Operands operands, int elements>
const Op* op_narrow(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const T* b = operands.source_count() > 1 ? warp.lanes<T>(op->s[2]) : a;
  const T* c = operands.source_count() > 2 ? warp.lanes<T>(op->s[3]) : a;
  alignas(64) T out[elements];
  for (int i = 0; i < elements; ++i) {
    T value;
    if constexpr (operands.source_count() == 1)
      value = Sem::apply(a[i]);
    else if constexpr (operands.source_count() == 2)
      value = Sem::apply(a[i], b[i]);
    else
      value = Sem::apply(a[i], b[i], c[i]);
    out[i] = value;
  }
  using Lane = std::conditional_t<elements == kWarpSize, std::uint16_t, std::uint32_t>;
  std::array<Lane, kWarpSize> lanes;
  std::memcpy(lanes.data(), out, sizeof out);
  for_lanes(warp.lanes<Lane>(op->s[0]), warp.mask, [&](int l) { return lanes[l]; });
  return op + 1;
}

// Logic on predicates: 32 lanes are one word.
template <class Sem, Operands operands>
const Op* op_predicate(Launch&, Warp& warp, const Op* op) {
  const std::uint32_t a = warp.predicate(op->s[1]) ^ (op->offset & 1 ? kAllLanes : 0u);
  std::uint32_t bits = 0;
  if constexpr (operands.source_count() == 1)
    bits = Sem::apply(a);
  else
    bits = Sem::apply(a, warp.predicate(op->s[2]) ^ (op->offset & 2 ? kAllLanes : 0u));
  set_predicate(warp.predicate(op->s[0]), warp.mask, bits);
  return op + 1;
}

template <class T, class Wide>
const Op* op_mul_wide(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const T* b = warp.lanes<T>(op->s[2]);
  for_lanes(warp.lanes<Wide>(op->s[0]), warp.mask,
            [&](int l) { return sem::Mul::apply(static_cast<Wide>(a[l]), static_cast<Wide>(b[l])); });
  return op + 1;
}

template <class T, class Wide>
const Op* op_mad_wide(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const T* b = warp.lanes<T>(op->s[2]);
  const Wide* c = warp.lanes<Wide>(op->s[3]);
  for_lanes(warp.lanes<Wide>(op->s[0]), warp.mask,
            [&](int l) { return sem::Mad::apply(static_cast<Wide>(a[l]), static_cast<Wide>(b[l]), c[l]); });
  return op + 1;
}

template <class T, class Wide>
const Op* op_mul_wide_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<Wide>(op->s[0]) =
      sem::Mul::apply(static_cast<Wide>(*warp.lanes<T>(op->s[1])), static_cast<Wide>(*warp.lanes<T>(op->s[2])));
  return op + 1;
}
template <class T, class Wide>
const Op* op_mad_wide_of_lane_0(Launch&, Warp& warp, const Op* op) {
  *warp.lanes<Wide>(op->s[0]) =
      sem::Mad::apply(static_cast<Wide>(*warp.lanes<T>(op->s[1])), static_cast<Wide>(*warp.lanes<T>(op->s[2])),
                      *warp.lanes<Wide>(op->s[3]));
  return op + 1;
}

template <class Sem, class T, Operands operands>
concept Applies = (operands.source_count() == 1 && requires(T x) { Sem::apply(x); }) ||
                  (operands.source_count() == 2 && requires(T x, Source<T, operands, 1> y) { Sem::apply(x, y); }) ||
                  (operands.source_count() == 3 &&
                   requires(T x, Source<T, operands, 1> y, Source<T, operands, 2> z) { Sem::apply(x, y, z); }) ||
                  (operands.source_count() == 4 &&
                   requires(T x, Source<T, operands, 2> z, Source<T, operands, 3> w) { Sem::apply(x, x, z, w); });

template <class Sem, class T, Operands operands, int elements, ptx::TypeSet types, Type type>
Handler pick_narrow([[maybe_unused]] bool sat) {
  if constexpr ((types & ptx::bit(type)) == 0)
    return nullptr;
  else if constexpr (std::is_same_v<T, Half>)
    return sat ? op_clamped<op_narrow<Sem, T, operands, elements>, T, elements / kWarpSize>
               : op_narrow<Sem, T, operands, elements>;
  else
    return op_narrow<Sem, T, operands, elements>;
}

template <class Sem, class T, Operands operands, ptx::TypeSet types, Type type>
Handler pick() {
  if constexpr ((types & ptx::bit(type)) != 0 && Applies<Sem, T, operands>)
    return op_plain<Sem, T, operands>;
  else
    return nullptr;
}
template <class Sem, class T, Operands operands, ptx::TypeSet types, Type type>
Handler pick_of_lane_0() {
  if constexpr ((types & ptx::bit(type)) != 0 && Applies<Sem, T, operands>)
    return op_plain_of_lane_0<Sem, T, operands>;
  else
    return nullptr;
}

// Whether the functor has `wrapped`, the variant for .wrap.
template <class Sem>
concept Wraps = requires(std::uint32_t x) {
  Sem::wrapped(x, x);
};
template <class Sem>
struct Wrapped {
  template <class... T>
  static auto apply(T... in) -> decltype(Sem::wrapped(in...)) {
    return Sem::wrapped(in...);
  }
};

// Returns a handler for lane 0 only. There are such handlers only for integers, because addresses and counters are
// integers.
template <class Sem, Operands operands, ptx::TypeSet types>
Handler handler_of_lane_0(const Instruction& in) {
  if (in.sat || in.wrap) return nullptr;
  switch (in.type) {
    case Type::u16:
      return pick_of_lane_0<Sem, std::uint16_t, operands, types, Type::u16>();
    case Type::s16:
      return pick_of_lane_0<Sem, std::int16_t, operands, types, Type::s16>();
    case Type::b16:
      return pick_of_lane_0<Sem, std::uint16_t, operands, types, Type::b16>();
    case Type::u32:
      return pick_of_lane_0<Sem, std::uint32_t, operands, types, Type::u32>();
    case Type::s32:
      return pick_of_lane_0<Sem, std::int32_t, operands, types, Type::s32>();
    case Type::b32:
      return pick_of_lane_0<Sem, std::uint32_t, operands, types, Type::b32>();
    case Type::u64:
      return pick_of_lane_0<Sem, std::uint64_t, operands, types, Type::u64>();
    case Type::s64:
      return pick_of_lane_0<Sem, std::int64_t, operands, types, Type::s64>();
    case Type::b64:
      return pick_of_lane_0<Sem, std::uint64_t, operands, types, Type::b64>();
    default:
      return nullptr;
  }
}

// Returns the handler of one row of the opcode table for the instruction's type. Bit types compute as unsigned
// integers.
template <class Sem, Operands operands, ptx::TypeSet types>
Handler handler_for(const Instruction& in) {
  if constexpr (Wraps<Sem>) {
    if (in.wrap) return handler_for<Wrapped<Sem>, operands, types>(in);
  }
  if constexpr ((types & ptx::kPred) != 0) {
    if (in.type == Type::pred) return op_predicate<Sem, operands>;
  }
  if constexpr ((types & ptx::kF32) != 0) {
    if (in.type == Type::f32) {
      if (const Handler handler = modified_handler<Sem, operands>(in)) return handler;
    }
  }
  switch (in.type) {
    case Type::u16:
      return pick<Sem, std::uint16_t, operands, types, Type::u16>();
    case Type::s16:
      return pick<Sem, std::int16_t, operands, types, Type::s16>();
    case Type::b16:
      return pick<Sem, std::uint16_t, operands, types, Type::b16>();
    case Type::u32:
      return pick<Sem, std::uint32_t, operands, types, Type::u32>();
    case Type::s32:
      return pick<Sem, std::int32_t, operands, types, Type::s32>();
    case Type::b32:
      return pick<Sem, std::uint32_t, operands, types, Type::b32>();
    case Type::u64:
      return pick<Sem, std::uint64_t, operands, types, Type::u64>();
    case Type::s64:
      return pick<Sem, std::int64_t, operands, types, Type::s64>();
    case Type::b64:
      return pick<Sem, std::uint64_t, operands, types, Type::b64>();
    case Type::f16:
      return pick_narrow<Sem, Half, operands, 32, types, Type::f16>(in.sat);
    case Type::f16x2:
      return pick_narrow<Sem, Half, operands, 64, types, Type::f16x2>(in.sat);
    case Type::bf16:
      return pick_narrow<Sem, BFloat, operands, 32, types, Type::bf16>(in.sat);
    case Type::bf16x2:
      return pick_narrow<Sem, BFloat, operands, 64, types, Type::bf16x2>(in.sat);
    case Type::f32:
      return pick<Sem, float, operands, types, Type::f32>();
    case Type::f64:
      return pick<Sem, double, operands, types, Type::f64>();
    default:
      return nullptr;
  }
}

Handler wide_handler(const Instruction& in) {
  const bool mad = ptx::has_trait(in, ptx::kAdds);
  switch (in.type) {
    case Type::u16:
      return mad ? op_mad_wide<std::uint16_t, std::uint32_t> : op_mul_wide<std::uint16_t, std::uint32_t>;
    case Type::s16:
      return mad ? op_mad_wide<std::int16_t, std::int32_t> : op_mul_wide<std::int16_t, std::int32_t>;
    case Type::u32:
      return mad ? op_mad_wide<std::uint32_t, std::uint64_t> : op_mul_wide<std::uint32_t, std::uint64_t>;
    case Type::s32:
      return mad ? op_mad_wide<std::int32_t, std::int64_t> : op_mul_wide<std::int32_t, std::int64_t>;
    default:
      return nullptr;
  }
}

Handler funnel_handler(const Instruction& in) {
  using ptx::ShiftMode;
  switch (in.shift) {
    case ShiftMode::left_wrap:
      return op_plain<sem::FunnelShift<true, false>, std::uint32_t, ptx::kFunnelShift>;
    case ShiftMode::left_clamp:
      return op_plain<sem::FunnelShift<true, true>, std::uint32_t, ptx::kFunnelShift>;
    case ShiftMode::right_wrap:
      return op_plain<sem::FunnelShift<false, false>, std::uint32_t, ptx::kFunnelShift>;
    case ShiftMode::right_clamp:
      return op_plain<sem::FunnelShift<false, true>, std::uint32_t, ptx::kFunnelShift>;
    case ShiftMode::none:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

Handler alu_handler(const Instruction& in) {
  if (const Handler handler = integer_handler(in)) return handler;
  if (const Handler handler = float_handler(in)) return handler;
  if (in.mul == MulMode::wide) return wide_handler(in);
  if (in.mul == MulMode::hi) {
    return ptx::has_trait(in, ptx::kAdds) ? handler_for<sem::MadHi, ptx::kTernary, ptx::kInt>(in)
                                          : handler_for<sem::MulHi, ptx::kBinary, ptx::kInt>(in);
  }
  if (in.shift != ptx::ShiftMode::none) return funnel_handler(in);
  using namespace ptx;
  switch (in.opcode) {
#define PTX_ALU(Id, mnemonic, types, operands, modifiers, units, cost, flops, traits, semantics) \
  case Opcode::Id:                                                                               \
    return handler_for<sem::semantics, operands, (types)>(in);
#define PTX_OP(Id, ...)
#include "common/ptx/table/opcodes.def"
#undef PTX_ALU
#undef PTX_OP
    default:
      return nullptr;
  }
}

Handler alu_handler_of_lane_0(const Instruction& in) {
  if (in.mul == MulMode::wide) {
    const bool mad = ptx::has_trait(in, ptx::kAdds);
    if (in.type == Type::u32)
      return mad ? op_mad_wide_of_lane_0<std::uint32_t, std::uint64_t>
                 : op_mul_wide_of_lane_0<std::uint32_t, std::uint64_t>;
    if (in.type == Type::s32)
      return mad ? op_mad_wide_of_lane_0<std::int32_t, std::int64_t>
                 : op_mul_wide_of_lane_0<std::int32_t, std::int64_t>;
    return nullptr;
  }
  // The special cases of integer_ops.cpp, such as prmt and bfind with modes, have no lane-0 handler.
  if (in.mul == MulMode::hi || in.shift != ptx::ShiftMode::none || integer_handler(in) != nullptr) return nullptr;
  using namespace ptx;
  switch (in.opcode) {
#define PTX_ALU(Id, mnemonic, types, operands, modifiers, units, cost, flops, traits, semantics) \
  case Opcode::Id:                                                                               \
    return handler_of_lane_0<sem::semantics, operands, (types)>(in);
#define PTX_OP(Id, ...)
#include "common/ptx/table/opcodes.def"
#undef PTX_ALU
#undef PTX_OP
    default:
      return nullptr;
  }
}

}  // namespace roofwalk::vgpu
