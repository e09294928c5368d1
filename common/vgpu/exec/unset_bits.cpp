#include "common/vgpu/exec/unset_bits.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/exec/ops/bit_semantics.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using Sources = std::span<const UnsetSource>;

bool is_any_unset(Sources sources) {
  return std::any_of(sources.begin(), sources.end(), [](const UnsetSource& each) { return each.bits != 0; });
}

bool is_set(const UnsetSource& source) { return source.is_known && source.bits == 0; }

// From the lowest unset bit upwards, as carries go.
std::uint64_t with_carries(Sources sources) {
  std::uint64_t any = 0;
  for (const UnsetSource& source : sources) any |= source.bits;
  return any == 0 ? 0 : ~0ull << std::countr_zero(any);
}

// Of the least and the greatest sum that there may be, bit by bit: what carries cannot reach, and a bit that is the
// same in both, is set. For a difference, the second source is turned around.
std::uint64_t of_sum(Sources sources, bool is_difference) {
  if (!sources[0].is_known || !sources[1].is_known) return with_carries(sources);
  const auto least = [&](std::size_t i) { return sources[i].value & ~sources[i].bits; };
  const auto most = [&](std::size_t i) { return sources[i].value | sources[i].bits; };
  const std::uint64_t low = is_difference ? least(0) - most(1) : least(0) + least(1);
  const std::uint64_t high = is_difference ? most(0) - least(1) : most(0) + most(1);
  return (low ^ high) | sources[0].bits | sources[1].bits;
}

// A bit of the result is set if it is the same for each choice of the unset bits. All bits of one source are chosen
// alike, as each bit of the result depends on one bit of each source only.
template <class Logic>
std::uint64_t of_logic(Sources sources, Logic&& logic) {
  std::uint64_t least = ~0ull, most = 0, any = 0;
  for (unsigned choice = 0; choice < 1u << sources.size(); ++choice) {
    std::uint64_t of[3] = {};
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::uint64_t open = sources[i].is_known ? sources[i].bits : ~0ull;
      of[i] = (sources[i].value & ~open) | ((choice >> i & 1u) != 0 ? open : 0);
      any |= sources[i].bits;
    }
    const std::uint64_t out = logic(of[0], of[1], of[2]);
    least &= out, most |= out;
  }
  return (least ^ most) & any;
}

// For operations that only move bits: what they do with the bits of a value, they do with the marks of these bits.
// `controls`: the sources from this one on say where to.
template <class Move>
std::uint64_t of_move(Sources sources, std::size_t controls, Move&& move) {
  if (!std::all_of(sources.begin() + static_cast<std::ptrdiff_t>(controls), sources.end(), is_set)) return ~0ull;
  return move([&](std::size_t i) { return i < controls ? sources[i].bits : sources[i].value; });
}

// Calls move(T{}) with the integer type of this size and sign.
template <class Move>
std::uint64_t by_type(Type type, Move&& move) {
  const bool is_signed = ptx::is_signed(type);
  const auto bits = [](auto moved) { return static_cast<std::uint64_t>(moved); };
  switch (ptx::size_bytes(type)) {
    case 2:
      return is_signed ? bits(move(std::int16_t{})) : bits(move(std::uint16_t{}));
    case 4:
      return is_signed ? bits(move(std::int32_t{})) : bits(move(std::uint32_t{}));
    default:
      return is_signed ? bits(move(std::int64_t{})) : bits(move(std::uint64_t{}));
  }
}

std::uint64_t of_shift(const Instruction& in, Sources sources) {
  return of_move(sources, 1, [&](auto of) {
    const auto amount = static_cast<std::uint32_t>(of(1));
    return by_type(in.type, [&](auto type) {
      const auto a = static_cast<decltype(type)>(of(0));
      return in.opcode == Opcode::Shl ? sem::Shl::apply(a, amount) : sem::Shr::apply(a, amount);
    });
  });
}

std::uint64_t of_funnel_shift(const Instruction& in, Sources sources) {
  return of_move(sources, 2, [&](auto of) -> std::uint64_t {
    const auto low = static_cast<std::uint32_t>(of(0)), high = static_cast<std::uint32_t>(of(1));
    const auto amount = static_cast<std::uint32_t>(of(2));
    switch (in.shift) {
      case ptx::ShiftMode::left_wrap:
        return sem::FunnelShift<true, false>::apply(low, high, amount);
      case ptx::ShiftMode::left_clamp:
        return sem::FunnelShift<true, true>::apply(low, high, amount);
      case ptx::ShiftMode::right_wrap:
        return sem::FunnelShift<false, false>::apply(low, high, amount);
      default:
        return sem::FunnelShift<false, true>::apply(low, high, amount);
    }
  });
}

std::uint64_t of_field(const Instruction& in, Sources sources) {
  const std::size_t controls = in.opcode == Opcode::Bfi ? 2 : 1;
  return of_move(sources, controls, [&](auto of) {
    const auto position = static_cast<std::uint32_t>(of(controls));
    const auto length = static_cast<std::uint32_t>(of(controls + 1));
    return by_type(in.type, [&](auto type) {
      using T = decltype(type);
      if (in.opcode == Opcode::Bfe) return sem::Bfe::apply(static_cast<T>(of(0)), position, length);
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(sem::Bfi::apply(static_cast<U>(of(0)), static_cast<U>(of(1)), position, length));
    });
  });
}

// Of two numbers of 16 bits, each on its own. cvt takes the upper one from its first source, the lower one from the
// second.
std::uint64_t of_pair(const Instruction& in, Sources sources) {
  constexpr std::uint64_t kLow = 0xffff, kHigh = 0xffff'0000;
  if (in.opcode == Opcode::Cvt)
    return sources.size() < 2 ? ~0ull : (sources[0].bits != 0 ? kHigh : 0) | (sources[1].bits != 0 ? kLow : 0);
  std::uint64_t any = 0;
  for (const UnsetSource& source : sources) any |= source.bits;
  return ((any & kHigh) != 0 ? kHigh : 0) | ((any & kLow) != 0 ? kLow : 0);
}

// The marks of a number of this type in a wider register, which repeats the sign if there is one.
std::uint64_t extended(Type type, std::uint64_t marks) {
  const std::uint64_t own = marks & bits_of_type(type), rest = ~bits_of_type(type);
  return ptx::is_signed(type) && static_cast<int>(std::bit_width(own)) == 8 * ptx::size_bytes(type) ? own | rest : own;
}

std::uint64_t of_conversion(const Instruction& in, Sources sources) {
  if (ptx::is_pair(in.type)) return of_pair(in, sources);
  const std::uint64_t own = extended(in.source_type, sources[0].bits);  // of a register that may be wider
  if ((own & bits_of_type(in.source_type)) == 0) return 0;
  if (ptx::is_float(in.type) || ptx::is_float(in.source_type) || in.sat) return ~0ull;
  return extended(in.type, own);
}

// The least and the greatest number of this type that a source may be. Signed numbers are turned into unsigned ones of
// the same order.
struct Range {
  std::uint64_t least = 0, most = 0;
};
Range range_of(const UnsetSource& source, Type type) {
  const std::uint64_t all = bits_of_type(type), open = source.is_known ? source.bits & all : all;
  const std::uint64_t value = (source.value ^ (ptx::is_signed(type) ? all ^ all >> 1 : 0)) & all;
  return {value & ~open, value | open};
}

// Of a number that may be anything from one number to another: it begins as both do.
std::uint64_t of_any_between(std::uint64_t one, std::uint64_t other) {
  return one == other ? 0 : ~0ull >> std::countl_zero(one ^ other);
}

std::uint64_t of_extremum(const Instruction& in, Sources sources) {
  if (ptx::is_pair(in.type)) return of_pair(in, sources);
  if (ptx::is_float(in.type) || in.relu || sources.size() != 2) return ~0ull;
  const Range a = range_of(sources[0], in.type), b = range_of(sources[1], in.type);
  return in.opcode == Opcode::Min ? of_any_between(std::min(a.least, b.least), std::min(a.most, b.most))
                                  : of_any_between(std::max(a.least, b.least), std::max(a.most, b.most));
}

// Of a count of bits or the place of one, which only moves one way as bits are added: all between what it is with none
// of the unset bits and with all of them.
std::uint64_t of_search(const Instruction& in, Sources sources) {
  if (!std::all_of(sources.begin() + 1, sources.end(), is_set) || !sources[0].is_known) return ~0ull;
  const UnsetSource& of = sources[0];
  const std::uint64_t all = bits_of_type(in.type), sign = ptx::is_signed(in.type) ? all ^ all >> 1 : 0;
  if ((of.bits & sign) != 0) return ~0ull;  // it says which bits are looked for
  const auto find = [&](std::uint64_t bits) {
    return by_type(in.type, [&](auto type) -> std::uint32_t {
      const auto a = static_cast<decltype(type)>(bits);
      if (in.opcode == Opcode::Clz) return sem::Clz::apply(a);
      if (in.opcode == Opcode::Popc) return sem::Popc::apply(a);
      if (in.opcode == Opcode::Bfind) return sem::Bfind::apply(a);
      return sem::Fns::apply(static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(sources[1].value),
                             static_cast<std::uint32_t>(sources[2].value));
    });
  };
  const std::uint64_t none = find(of.value & ~of.bits), every = find(of.value | of.bits);
  // bfind may count from the other end, which turns all bits of the place around.
  return of_any_between(none, every);
}

std::uint64_t of_arithmetic(const Instruction& in, Sources sources) {
  const bool is_sum = in.opcode == Opcode::Add || in.opcode == Opcode::Sub;
  switch (in.opcode) {
    case Opcode::And:
      return of_logic(sources, [](auto a, auto b, auto) { return a & b; });
    case Opcode::Or:
      return of_logic(sources, [](auto a, auto b, auto) { return a | b; });
    case Opcode::Lop3:
      if (!is_set(sources[3])) return ~0ull;
      return of_logic(sources.first(3), [&](auto a, auto b, auto c) -> std::uint64_t {
        return sem::Lop3::apply(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                                static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(sources[3].value));
      });
    case Opcode::Xor:
      return sources[0].bits | sources[1].bits;
    case Opcode::Not:
      return sources[0].bits;
    case Opcode::Shl:
    case Opcode::Shr:
      return of_shift(in, sources);
    case Opcode::Shf:
      return of_funnel_shift(in, sources);
    case Opcode::Bfe:
    case Opcode::Bfi:
      return of_field(in, sources);
    case Opcode::Brev:
      return by_type(in.type, [&](auto type) {
        return sem::Brev::apply(static_cast<std::make_unsigned_t<decltype(type)>>(sources[0].bits));
      });
    case Opcode::Prmt:
      if (in.permute != ptx::PermuteMode::none) return ~0ull;
      return of_move(sources, 2, [](auto of) -> std::uint64_t {
        return sem::Prmt::apply(static_cast<std::uint32_t>(of(0)), static_cast<std::uint32_t>(of(1)),
                                static_cast<std::uint32_t>(of(2)));
      });
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Mad:
      if (ptx::is_pair(in.type)) return of_pair(in, sources);
      if (ptx::is_float(in.type) || in.mul == ptx::MulMode::hi || in.sat) return ~0ull;
      return is_sum ? of_sum(sources, in.opcode == Opcode::Sub) : with_carries(sources);
    case Opcode::Min:
    case Opcode::Max:
      return of_extremum(in, sources);
    case Opcode::Clz:
    case Opcode::Popc:
    case Opcode::Bfind:
    case Opcode::Fns:
      return of_search(in, sources);
    default:
      return ptx::is_pair(in.type) ? of_pair(in, sources) : ~0ull;
  }
}

// Whether something may hold, and whether it may not.
struct Truth {
  bool may_hold = true, may_fail = true;
};

Truth truth_of(const UnsetSource& predicate) {
  if (!is_set(predicate)) return {};
  return {(predicate.value & 1) != 0, (predicate.value & 1) == 0};
}

// Whether the comparison of two integers has one result, whatever their unset bits are.
Truth truth_of_comparison(ptx::Compare compare, Type type, const UnsetSource& one, const UnsetSource& other) {
  using ptx::Compare;
  const Range a = range_of(one, type), b = range_of(other, type);
  const std::uint64_t open = (a.least ^ a.most) | (b.least ^ b.most);
  const bool may_be_equal = ((a.least ^ b.least) & ~open) == 0, may_differ = open != 0 || a.least != b.least;
  switch (compare) {
    case Compare::eq:
      return {may_be_equal, may_differ};
    case Compare::ne:
      return {may_differ, may_be_equal};
    case Compare::lt:
    case Compare::lo:
      return {a.least < b.most, a.most >= b.least};
    case Compare::le:
    case Compare::ls:
      return {a.least <= b.most, a.most > b.least};
    case Compare::gt:
    case Compare::hi:
      return {a.most > b.least, a.least <= b.most};
    case Compare::ge:
    case Compare::hs:
      return {a.most >= b.least, a.least < b.most};
    default:
      return {};
  }
}

// A comparison may be joined with a predicate, which alone may decide the result, or leave that to the comparison.
std::uint64_t of_comparison(const Instruction& in, Sources sources) {
  const bool is_set_form = ptx::info(in.opcode).form == ptx::Form::set;
  const Type type = is_set_form ? in.source_type : in.type;
  Truth truth;
  if (!ptx::is_float(type) && !ptx::is_pair(type))
    truth = truth_of_comparison(in.compare, type, sources[0], sources[1]);
  if (in.bool_op == ptx::BoolOp::none) return truth.may_hold && truth.may_fail ? ~0ull : 0;
  const Truth with = truth_of(sources[2]);
  const bool is_open = (truth.may_hold && truth.may_fail) || (with.may_hold && with.may_fail);
  if (!is_open) return 0;
  // The second result has the comparison turned around.
  const bool has_second = in.operands.size() > 1 && in.operands[1].kind == ptx::Operand::Kind::reg;
  if (in.bool_op == ptx::BoolOp::and_) return with.may_hold && (truth.may_hold || has_second) ? ~0ull : 0;
  if (in.bool_op == ptx::BoolOp::or_) return with.may_fail && (truth.may_fail || has_second) ? ~0ull : 0;
  return ~0ull;
}

}  // namespace

std::uint64_t bits_of_type(Type type) {
  const int bytes = ptx::size_bytes(type);
  return bytes >= 8 ? ~0ull : bytes == 0 ? 1 : (1ull << 8 * bytes) - 1;
}

std::uint64_t unset_result(const Instruction& in, Sources sources) {
  if (!is_any_unset(sources)) return 0;
  switch (ptx::info(in.opcode).form) {
    case ptx::Form::alu:
      return of_arithmetic(in, sources);
    case ptx::Form::convert:
      return of_conversion(in, sources);
    case ptx::Form::compare:
      return of_comparison(in, sources);
    case ptx::Form::set:
      return ptx::is_pair(in.type) ? of_pair(in, sources) : of_comparison(in, sources);
    default:
      return ~0ull;
  }
}

}  // namespace roofwalk::vgpu
