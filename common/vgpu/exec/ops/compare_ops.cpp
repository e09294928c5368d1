// Handlers of comparisons that set predicates (setp) and that write a value (set), and of tests of numbers (testp).

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/semantics.h"
#include "common/vgpu/requests/lanes.h"

namespace roofwalk::vgpu {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Instruction;
using ptx::Type;

// Eq to Ge are ordered: false if an operand is NaN. The variants with ...u are unordered: true if an operand is NaN.
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

template <class C, bool ftz, class T>
bool compare(T a, T b) {
  if constexpr (ftz)
    return C::apply(flush(a), flush(b));
  else
    return C::apply(a, b);
}

// Combines the comparison's bits with the third source and writes the two results.
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

// The lanes where a comparison of floats holds. Comparisons of narrow floats and `set` share these instances.
template <class C>
[[gnu::noinline]] std::uint32_t lanes_where(const float* a, const float* b) {
  return lane_bits([&](int l) { return C::apply(a[l], b[l]); });
}
using LanesWhere = std::uint32_t (*)(const float*, const float*);

// The two results of a comparison. Of packed floats, the first is that of the lower halves, the second that of the
// upper halves; of others, the second is the opposite of the first.
struct Compared {
  std::uint32_t first, second;
};

template <class T>
Compared compare_narrow(const T* a, const T* b, bool packed, LanesWhere lanes_where) {
  const auto compare_each = [&](int first, int step) {
    alignas(64) float wide_a[kWarpSize], wide_b[kWarpSize];
    for (int l = 0; l < kWarpSize; ++l) {
      wide_a[l] = widen(a[first + l * step]);
      wide_b[l] = widen(b[first + l * step]);
    }
    return lanes_where(wide_a, wide_b);
  };
  if (packed) return {compare_each(0, 2), compare_each(1, 2)};
  const std::uint32_t bits = compare_each(0, 1);
  return {bits, ~bits};
}

template <class T>
Compared compare_sources(const Warp& warp, const Op* op, int first_source, LanesWhere lanes_where) {
  const T* const a = warp.lanes<T>(op->s[first_source]);
  const T* const b = warp.lanes<T>(op->s[first_source + 1]);
  if constexpr (kIsNarrow<T>) {
    const Type type = op->instruction->source_type == Type::none ? op->instruction->type : op->instruction->source_type;
    return compare_narrow(a, b, type == Type::f16x2 || type == Type::bf16x2, lanes_where);
  } else {
    const std::uint32_t bits = lanes_where(a, b);
    return {bits, ~bits};
  }
}

template <class T>
[[gnu::noinline]] const Op* set_narrow_predicates(Warp& warp, const Op* op, LanesWhere lanes_where) {
  const auto [first, second] = compare_sources<T>(warp, op, 2, lanes_where);
  return put_predicates(warp, op, first, second);
}
template <class C, class T, bool>
struct SetNarrowPredicates {
  static const Op* run(Launch&, Warp& warp, const Op* op) { return set_narrow_predicates<T>(warp, op, lanes_where<C>); }
};

// The instruction `set`: writes the bits in Op::offset to lanes where the comparison holds, and 0 to the others.
template <class T>
[[gnu::noinline]] const Op* set_values(Warp& warp, const Op* op, LanesWhere lanes_where) {
  const Compared compared = compare_sources<T>(warp, op, 1, lanes_where);
  const auto truth = static_cast<std::uint32_t>(op->offset);
  const auto where = [](std::uint32_t lanes, int l, std::uint32_t value) {
    return (lanes >> l & 1u) != 0 ? value : 0u;
  };
  const Type type = op->instruction->source_type;
  if (type == Type::f16x2 || type == Type::bf16x2) {
    for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) {
      return where(compared.first, l, truth & 0xffffu) | where(compared.second, l, truth & 0xffff'0000u);
    });
  } else if (ptx::size_bytes(op->instruction->type) == 4) {
    for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask, [&](int l) { return where(compared.first, l, truth); });
  } else {
    for_lanes(warp.lanes<std::uint16_t>(op->s[0]), warp.mask,
              [&](int l) { return static_cast<std::uint16_t>(where(compared.first, l, truth)); });
  }
  return op + 1;
}
template <class C, class T, bool>
struct SetValues {
  static const Op* run(Launch&, Warp& warp, const Op* op) { return set_values<T>(warp, op, lanes_where<C>); }
};

// Selects the handler Run<comparison, T, ftz>::run.
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

// The exponent's bits are all ones for infinities and NaNs; with a fraction, it is a NaN. PTX counts zeros as normal.
template <ptx::NumberTest test, class Bits, Bits kInfinity, Bits kLeastNormal>
const Op* op_number_test(Launch&, Warp& warp, const Op* op) {
  const Bits* a = warp.lanes<Bits>(op->s[1]);
  set_predicate(warp.predicate(op->s[0]), warp.mask, lane_bits([&](int l) {
                  const Bits magnitude = a[l] & static_cast<Bits>(~Bits{0} >> 1);
                  using enum ptx::NumberTest;
                  if constexpr (test == finite) return magnitude < kInfinity;
                  if constexpr (test == infinite) return magnitude == kInfinity;
                  if constexpr (test == number) return magnitude <= kInfinity;
                  if constexpr (test == notanumber) return magnitude > kInfinity;
                  const bool is_subnormal = magnitude != 0 && magnitude < kLeastNormal;
                  return test == subnormal ? is_subnormal : magnitude < kInfinity && !is_subnormal;
                }));
  return op + 1;
}

template <class Bits, Bits kInfinity, Bits kLeastNormal>
Handler number_test_for(ptx::NumberTest test) {
  using enum ptx::NumberTest;
  switch (test) {
    case finite:
      return op_number_test<finite, Bits, kInfinity, kLeastNormal>;
    case infinite:
      return op_number_test<infinite, Bits, kInfinity, kLeastNormal>;
    case number:
      return op_number_test<number, Bits, kInfinity, kLeastNormal>;
    case notanumber:
      return op_number_test<notanumber, Bits, kInfinity, kLeastNormal>;
    case normal:
      return op_number_test<normal, Bits, kInfinity, kLeastNormal>;
    case subnormal:
      return op_number_test<subnormal, Bits, kInfinity, kLeastNormal>;
    case none:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

Handler number_test_handler(const Instruction& in) {
  if (in.type == Type::f32) return number_test_for<std::uint32_t, 0x7f80'0000, 0x0080'0000>(in.test);
  return number_test_for<std::uint64_t, 0x7ff0'0000'0000'0000, 0x0010'0000'0000'0000>(in.test);
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
    case Type::f16x2:
      return compare_for<SetNarrowPredicates, Half>(in.compare);
    case Type::bf16:
    case Type::bf16x2:
      return compare_for<SetNarrowPredicates, BFloat>(in.compare);
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
  switch (in.source_type) {
    case Type::f16:
    case Type::f16x2:
      return compare_for<SetValues, Half>(in.compare);
    case Type::bf16:
    case Type::bf16x2:
      return compare_for<SetValues, BFloat>(in.compare);
    case Type::f32:
      return compare_for<SetValues, float>(in.compare);
    default:
      return nullptr;
  }
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

}  // namespace roofwalk::vgpu
