// Floating-point operations beyond the plain arithmetic of alu_ops.cpp: directed rounding of doubles, quotients and
// roots; approximate quotients and reciprocals; 16-bit floats with modifiers; minima and maxima that propagate NaN.
// These are rare, so their handlers examine the instruction for each lane.
#include <cfenv>
#include <cmath>

#include "common/vgpu/exec/ops/half.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/semantics.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

template <class T>
struct Sources {
  T a, b, c;
};

// Computes result[i] = f(instruction, sources[i]) for the `elements` numbers in 32 lanes (64 if packed).
template <class T, int elements, T (*f)(const Instruction&, const Sources<T>&)>
const Op* op_each(Launch&, Warp& warp, const Op* op) {
  const T* a = warp.lanes<T>(op->s[1]);
  const T* b = op->s[2] == kNoSlot ? a : warp.lanes<T>(op->s[2]);
  const T* c = op->s[3] == kNoSlot ? a : warp.lanes<T>(op->s[3]);
  T* d = warp.lanes<T>(op->s[0]);
  for (int i = 0; i < elements; ++i) {
    const int lane = i / (elements / kWarpSize);
    if ((warp.mask >> lane & 1u) != 0) d[i] = f(*op->instruction, {a[i], b[i], c[i]});
  }
  return op + 1;
}

// Sets the host's rounding mode during its lifetime. Operands and results go through volatile variables; otherwise
// compilers would move the computation out of that lifetime.
class HostRounding {
 public:
  explicit HostRounding(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(rounding == Rounding::rz   ? FE_TOWARDZERO
                    : rounding == Rounding::rm ? FE_DOWNWARD
                    : rounding == Rounding::rp ? FE_UPWARD
                                               : FE_TONEAREST);
  }
  ~HostRounding() { std::fesetround(before_); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  int before_;
};

template <class T>
T one_nan(T value) {
  if constexpr (std::is_same_v<T, float>)
    return value != value ? canonical_nan() : value;
  else
    return value != value ? std::numeric_limits<double>::quiet_NaN() : value;
}

// Returns the operation's result in the host's current rounding mode.
template <class T>
T rounded(const Instruction& in, const Sources<T>& x) {
  const volatile T a = in.ftz ? flush(x.a) : x.a, b = in.ftz ? flush(x.b) : x.b, c = x.c;
  volatile T result = 0;
  switch (in.opcode) {
    case Opcode::Add:
      result = a + b;
      break;
    case Opcode::Sub:
      result = a - b;
      break;
    case Opcode::Mul:
      result = a * b;
      break;
    case Opcode::Div:
      result = a / b;
      break;
    case Opcode::Rcp:
      result = T{1} / a;
      break;
    case Opcode::Sqrt:
      result = std::sqrt(a);
      break;
    default:  // fma, mad
      result = std::fma(a, b, c);
  }
  const T value = result;
  return one_nan(in.ftz ? flush(value) : value);
}

// The host's rounding mode is changed once for all lanes, because changing it takes longer than an operation.
template <class T>
const Op* op_rounded(Launch& launch, Warp& warp, const Op* op) {
  const HostRounding mode(op->instruction->rounding);
  return op_each<T, kWarpSize, rounded<T>>(launch, warp, op);
}

// div.approx is a * (1 / b), where a subnormal 1 / b becomes 0.
float divide_roughly(const Instruction& in, const Sources<float>& x) {
  const float a = in.ftz ? flush(x.a) : x.a, b = in.ftz ? flush(x.b) : x.b;
  const float size = std::fabs(b);
  const float value = size > 0x1p126f && std::isfinite(size) ? a * std::copysign(0.0f, b) : a / b;
  return one_nan(in.ftz ? flush(value) : value);
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write only the upper half of a double.
double of_upper_half(const Instruction& in, const Sources<double>& x) {
  constexpr std::uint64_t kUpper = 0xffff'ffff'0000'0000u, kExponent = 0x7ff0'0000'0000'0000u;
  const auto flushed = [](std::uint64_t bits) { return (bits & kExponent) == 0 ? bits & ~0ull << 63 : bits; };
  const auto a = std::bit_cast<double>(flushed(std::bit_cast<std::uint64_t>(x.a) & kUpper));
  if (x.a != x.a) return std::numeric_limits<double>::quiet_NaN();
  const double value = in.opcode == Opcode::Rcp ? 1 / a : std::copysign(1 / std::sqrt(a), a);
  if (value != value || (in.opcode == Opcode::Rsqrt && a < 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(flushed(std::bit_cast<std::uint64_t>(value) & kUpper));
}

Handler rounded_handler(const Instruction& in) {
  const bool directed = in.rounding == Rounding::rz || in.rounding == Rounding::rm || in.rounding == Rounding::rp;
  const bool gross = in.rounding == Rounding::approx && in.ftz;
  if (in.type == Type::f64) {
    if ((in.opcode == Opcode::Rcp || in.opcode == Opcode::Rsqrt) && gross) return op_each<double, 32, of_upper_half>;
    return directed ? op_rounded<double> : nullptr;
  }
  if (in.opcode == Opcode::Div && in.rounding == Rounding::approx) return op_each<float, 32, divide_roughly>;
  const bool divides = in.opcode == Opcode::Div || in.opcode == Opcode::Rcp || in.opcode == Opcode::Sqrt;
  return directed && divides ? op_rounded<float> : nullptr;
}

// ---- Minima and maxima that propagate NaN ---------------------------------------------------------------------------

template <class T>
T larger_or_smaller(Opcode opcode, T a, T b) {
  return opcode == Opcode::Max ? sem::Max::apply(a, b) : sem::Min::apply(a, b);
}

float nan_wins(const Instruction& in, const Sources<float>& x) {
  const float a = in.ftz ? flush(x.a) : x.a, b = in.ftz ? flush(x.b) : x.b;
  return a != a || b != b ? canonical_nan() : larger_or_smaller(in.opcode, a, b);
}

// ---- 16-bit floats --------------------------------------------------------------------------------------------------

template <class T>
bool is_nan(T x) {
  const float value = widen(x);
  return value != value;
}

template <class T>
T flush_narrow(T x) {
  constexpr std::uint16_t kExponent = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
  return (x.bits & kExponent) == 0 ? T{static_cast<std::uint16_t>(x.bits & 0x8000u)} : x;
}

template <class T>
T narrow_arithmetic(const Instruction& in, const Sources<T>& x) {
  switch (in.opcode) {
    case Opcode::Abs:
      return sem::Abs::apply(x.a);
    case Opcode::Neg:
      return sem::Neg::apply(x.a);
    case Opcode::Add:
      return sem::Add::apply(x.a, x.b);
    case Opcode::Sub:
      return sem::Sub::apply(x.a, x.b);
    case Opcode::Mul:
      return sem::Mul::apply(x.a, x.b);
    case Opcode::Ex2:
      return sem::Ex2::apply(x.a);
    case Opcode::Max:
    case Opcode::Min:
      if (in.nan && (is_nan(x.a) || is_nan(x.b))) return T{T::kNan};
      return larger_or_smaller(in.opcode, x.a, x.b);
    default:
      return sem::Fma::apply(x.a, x.b, x.c);
  }
}

template <class T>
T modified(const Instruction& in, const Sources<T>& x) {
  Sources<T> from = x;
  if (in.ftz) from = {flush_narrow(x.a), flush_narrow(x.b), flush_narrow(x.c)};
  T value = narrow_arithmetic(in, from);
  if (in.ftz) value = flush_narrow(value);
  const bool negative = (value.bits & 0x8000u) != 0;
  if (in.relu && negative && !is_nan(value)) return T{0};
  if (in.sat) {
    const float wide = widen(value);
    return wide > 0.0f ? (wide < 1.0f ? value : T{T::kOne}) : T{0};  // NaN becomes 0
  }
  return value;
}

template <class T>
Handler narrow_handler(const Instruction& in) {
  return ptx::is_pair(in.type) ? op_each<T, 64, modified<T>> : op_each<T, 32, modified<T>>;
}

}  // namespace

Handler float_handler(const Instruction& in) {
  const bool half = in.type == Type::f16 || in.type == Type::f16x2;
  const bool bfloat = in.type == Type::bf16 || in.type == Type::bf16x2;
  if (half || bfloat) {
    if (!in.ftz && !in.relu && !in.nan) return nullptr;
    return half ? narrow_handler<Half>(in) : narrow_handler<BFloat>(in);
  }
  if (in.type != Type::f32 && in.type != Type::f64) return nullptr;
  if (in.nan) return op_each<float, 32, nan_wins>;
  return rounded_handler(in);
}

}  // namespace roofwalk::vgpu
