// Which bits of a result are unset, against all values that the unset bits of its sources may have.
#include "common/vgpu/exec/unset_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <type_traits>

#include "common/base/mix.h"
#include "common/vgpu/exec/ops/semantics.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using Values = std::array<std::uint32_t, 4>;

enum class Precision {
  bits,   // no bit counts as unset that is set
  whole,  // none counts as unset if all are set
  no
};

struct UnsetCase {
  const char* name;
  Opcode opcode;
  Type type;
  std::size_t sources;
  std::function<std::uint32_t(const Values&)> compute;
  Precision precision = Precision::bits;
  std::size_t set_from = 4;  // sources from this one on are set, and small
  ptx::ShiftMode shift = ptx::ShiftMode::none;
  ptx::Compare compare = ptx::Compare::none;  // the third source, if any, is a predicate
  ptx::BoolOp bool_op = ptx::BoolOp::none;
};

std::uint32_t lop3(const Values& v) { return sem::Lop3::apply(v[0], v[1], v[2], v[3]); }
std::uint32_t shl(const Values& v) { return sem::Shl::apply(v[0], v[1]); }
std::uint32_t shr(const Values& v) { return sem::Shr::apply(v[0], v[1]); }
std::uint32_t sar(const Values& v) {
  return static_cast<std::uint32_t>(sem::Shr::apply(static_cast<std::int32_t>(v[0]), v[1]));
}
std::uint32_t bfe(const Values& v) { return sem::Bfe::apply(v[0], v[1], v[2]); }
std::uint32_t signed_bfe(const Values& v) {
  return static_cast<std::uint32_t>(sem::Bfe::apply(static_cast<std::int32_t>(v[0]), v[1], v[2]));
}
std::uint32_t bfi(const Values& v) { return sem::Bfi::apply(v[0], v[1], v[2], v[3]); }
std::uint32_t prmt(const Values& v) { return sem::Prmt::apply(v[0], v[1], v[2]); }
std::uint32_t left(const Values& v) { return sem::FunnelShift<true, false>::apply(v[0], v[1], v[2]); }
std::uint32_t right(const Values& v) { return sem::FunnelShift<false, true>::apply(v[0], v[1], v[2]); }

std::uint32_t most(const Values& v) {
  return static_cast<std::uint32_t>(std::max(static_cast<std::int32_t>(v[0]), static_cast<std::int32_t>(v[1])));
}
std::uint32_t signed_bfind(const Values& v) { return sem::Bfind::apply(static_cast<std::int32_t>(v[0])); }
std::uint32_t nth_set(const Values& v) { return sem::Fns::apply(v[0], v[1] % 8, v[2] % 4); }
std::uint32_t nth_set_down(const Values& v) { return sem::Fns::apply(v[0], 31 - v[1] % 8, 0 - v[2] % 4); }

template <class T, class Compare>
auto compared(Compare compare) {
  return [compare](const Values& v) -> std::uint32_t { return compare(static_cast<T>(v[0]), static_cast<T>(v[1])); };
}
// A comparison of two integers.
template <class T, class Compare>
UnsetCase comparison(const char* name, ptx::Compare of, Compare compare) {
  return {name, Opcode::Setp,         std::is_signed_v<T> ? Type::s32 : Type::u32,
          2,    compared<T>(compare), Precision::whole,
          4,    ptx::ShiftMode::none, of};
}
// One that is joined with a predicate.
template <class Join>
UnsetCase joined(const char* name, ptx::BoolOp by, Join join) {
  const auto compute = [join](const Values& v) -> std::uint32_t { return join(v[0] < v[1], (v[2] & 1) != 0); };
  return {name, Opcode::Setp, Type::u32, 3, compute, Precision::whole, 4, ptx::ShiftMode::none, ptx::Compare::lt, by};
}

const UnsetCase kUnsetCases[] = {
    {"And", Opcode::And, Type::b32, 2, [](const Values& v) { return v[0] & v[1]; }},
    {"Or", Opcode::Or, Type::b32, 2, [](const Values& v) { return v[0] | v[1]; }},
    {"Xor", Opcode::Xor, Type::b32, 2, [](const Values& v) { return v[0] ^ v[1]; }},
    {"Not", Opcode::Not, Type::b32, 1, [](const Values& v) { return ~v[0]; }},
    {"Lop3", Opcode::Lop3, Type::b32, 4, lop3, Precision::bits, 3},
    {"ShiftLeft", Opcode::Shl, Type::b32, 2, shl, Precision::bits, 1},
    {"ShiftRight", Opcode::Shr, Type::u32, 2, shr, Precision::bits, 1},
    {"ShiftRightSigned", Opcode::Shr, Type::s32, 2, sar, Precision::bits, 1},
    {"ShiftByUnset", Opcode::Shl, Type::b32, 2, shl, Precision::no},
    {"FunnelLeft", Opcode::Shf, Type::b32, 3, left, Precision::bits, 2, ptx::ShiftMode::left_wrap},
    {"FunnelRight", Opcode::Shf, Type::b32, 3, right, Precision::bits, 2, ptx::ShiftMode::right_clamp},
    {"Field", Opcode::Bfe, Type::u32, 3, bfe, Precision::bits, 1},
    {"SignedField", Opcode::Bfe, Type::s32, 3, signed_bfe, Precision::bits, 1},
    {"InsertedField", Opcode::Bfi, Type::b32, 4, bfi, Precision::bits, 2},
    {"Reversed", Opcode::Brev, Type::b32, 1, [](const Values& v) { return sem::Brev::apply(v[0]); }},
    {"Permuted", Opcode::Prmt, Type::b32, 3, prmt, Precision::bits, 2},
    {"PermutedByUnset", Opcode::Prmt, Type::b32, 3, prmt, Precision::no},
    {"Sum", Opcode::Add, Type::u32, 2, [](const Values& v) { return v[0] + v[1]; }},
    {"Difference", Opcode::Sub, Type::s32, 2, [](const Values& v) { return v[0] - v[1]; }},
    {"Product", Opcode::Mul, Type::u32, 2, [](const Values& v) { return v[0] * v[1]; }, Precision::no},
    {"ProductSum", Opcode::Mad, Type::u32, 3, [](const Values& v) { return v[0] * v[1] + v[2]; }, Precision::no},
    {"Quotient", Opcode::Div, Type::u32, 2, [](const Values& v) { return v[1] == 0 ? ~0u : v[0] / v[1]; },
     Precision::no},
    {"Least", Opcode::Min, Type::u32, 2, [](const Values& v) { return std::min(v[0], v[1]); }, Precision::whole},
    {"MostSigned", Opcode::Max, Type::s32, 2, most, Precision::whole},
    {"LeadingZeros", Opcode::Clz, Type::b32, 1, [](const Values& v) { return sem::Clz::apply(v[0]); },
     Precision::whole},
    {"Population", Opcode::Popc, Type::b32, 1, [](const Values& v) { return sem::Popc::apply(v[0]); },
     Precision::whole},
    {"Highest", Opcode::Bfind, Type::u32, 1, [](const Values& v) { return sem::Bfind::apply(v[0]); }, Precision::whole},
    {"HighestSigned", Opcode::Bfind, Type::s32, 1, signed_bfind, Precision::whole},
    {"NthSet", Opcode::Fns, Type::b32, 3, nth_set, Precision::whole, 1},
    {"NthSetDownwards", Opcode::Fns, Type::b32, 3, nth_set_down, Precision::whole, 1},
};

const UnsetCase kComparisons[] = {
    comparison<std::uint32_t>("Equal", ptx::Compare::eq, std::equal_to<>{}),
    comparison<std::uint32_t>("Unequal", ptx::Compare::ne, std::not_equal_to<>{}),
    comparison<std::uint32_t>("Less", ptx::Compare::lt, std::less<>{}),
    comparison<std::int32_t>("LessSigned", ptx::Compare::lt, std::less<>{}),
    comparison<std::int32_t>("LessOrEqual", ptx::Compare::le, std::less_equal<>{}),
    comparison<std::int32_t>("Greater", ptx::Compare::gt, std::greater<>{}),
    comparison<std::uint32_t>("Higher", ptx::Compare::hi, std::greater<>{}),
    comparison<std::uint32_t>("HigherOrSame", ptx::Compare::hs, std::greater_equal<>{}),
    comparison<std::int32_t>("GreaterOrEqual", ptx::Compare::ge, std::greater_equal<>{}),
    joined("JoinedByAnd", ptx::BoolOp::and_, std::logical_and<>{}),
    joined("JoinedByOr", ptx::BoolOp::or_, std::logical_or<>{}),
    joined("JoinedByXor", ptx::BoolOp::xor_, std::not_equal_to<>{}),
};

void PrintTo(const UnsetCase& each, std::ostream* out) { *out << each.name; }

class UnsetBits : public testing::TestWithParam<UnsetCase> {};

TEST_P(UnsetBits, AreThoseThatMayDiffer) {
  const UnsetCase& each = GetParam();
  Instruction in;
  in.opcode = each.opcode;
  in.type = each.type;
  in.shift = each.shift;
  in.compare = each.compare;
  in.bool_op = each.bool_op;
  const bool compares = each.compare != ptx::Compare::none;
  const bool searches = each.opcode == Opcode::Clz || each.opcode == Opcode::Bfind || each.opcode == Opcode::Popc;
  if (each.opcode == Opcode::Mul || each.opcode == Opcode::Mad) in.mul = ptx::MulMode::lo;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    const auto chance = [&](std::uint64_t i) { return static_cast<std::uint32_t>(mix(trial * 64 + i + 1)); };
    Values value{}, unset{};
    std::array<UnsetSource, 4> sources;
    for (std::size_t i = 0; i < each.sources; ++i) {
      value[i] = i >= each.set_from ? chance(i) % 41 : chance(i);
      for (std::uint64_t b = 0; b < 3 && i < each.set_from; ++b) unset[i] |= 1u << chance(8 + 4 * i + b) % 32;
      if (chance(40 + i) % 3 == 0) unset[i] = 0;
      // Numbers that begin alike, so that sometimes the lower bits decide, or with all their ones at one end.
      if (compares && i == 1 && chance(50) % 2 == 0) value[1] = value[0] ^ (1u << chance(51) % 32 & chance(52));
      if (compares && i == 2) value[2] &= 1, unset[2] &= 1;
      if (searches && chance(53) % 2 == 0) value[0] >>= chance(54) % 32;
      sources[i] = {unset[i], value[i] & ~unset[i], true};
    }
    if (each.opcode == Opcode::Lop3) sources[3].value = value[3] = chance(3) & 0xff;
    if (each.opcode == Opcode::Fns) {  // what the searches compute with
      const bool is_down = each.compute(Values{~0u, 0, 1}) != 0;
      sources[1].value = is_down ? 31 - value[1] % 8 : value[1] % 8;
      sources[2].value = is_down ? 0 - value[2] % 4 : value[2] % 4;
    }
    // Each choice of the unset bits, of which there are at most nine.
    std::uint32_t differing = 0;
    const std::uint32_t first = each.compute(value);
    for (std::uint32_t choice = 0; choice < 1u << 12; ++choice) {
      Values now = value;
      std::uint32_t bits = choice;
      for (std::size_t i = 0; i < each.sources; ++i) {
        for (std::uint32_t left = unset[i]; left != 0; left &= left - 1, bits >>= 1) {
          if ((bits & 1) != 0) now[i] ^= left & (0 - left);
        }
      }
      if (bits != 0) break;
      differing |= each.compute(now) ^ first;
    }
    const auto found = static_cast<std::uint32_t>(unset_result(in, std::span(sources).first(each.sources)));
    EXPECT_EQ(differing & ~found, 0u) << trial;
    if (each.precision == Precision::bits) {
      EXPECT_EQ(found, differing) << trial;
    }
    if (each.precision == Precision::whole && differing == 0) {
      EXPECT_EQ(found, 0u) << trial;
    }
  }
}

std::string name_of(const testing::TestParamInfo<UnsetCase>& each) { return each.param.name; }

INSTANTIATE_TEST_SUITE_P(Exec, UnsetBits, testing::ValuesIn(kUnsetCases), name_of);
INSTANTIATE_TEST_SUITE_P(Comparisons, UnsetBits, testing::ValuesIn(kComparisons), name_of);

TEST(UnsetBits, OfANarrowNumberInAWideRegisterDoNotCount) {
  Instruction in;
  in.opcode = Opcode::Cvt;
  in.type = Type::f32, in.source_type = Type::u8;
  const UnsetSource upper[] = {{.bits = 0xff00, .value = 5, .is_known = true}};
  EXPECT_EQ(unset_result(in, upper), 0u);
  in.type = Type::s32, in.source_type = Type::s16;
  const UnsetSource sign[] = {{.bits = 0x8000, .value = 5, .is_known = true}};
  EXPECT_EQ(static_cast<std::uint32_t>(unset_result(in, sign)), 0xffff8000u);
}

TEST(UnsetBits, OfAPairStayInTheirHalf) {
  Instruction in;
  in.opcode = Opcode::Fma;
  in.type = Type::f16x2;
  const UnsetSource sources[] = {{.bits = 0x10000}, {}, {}};
  EXPECT_EQ(unset_result(in, sources), 0xffff0000u);
}

}  // namespace
}  // namespace roofwalk::vgpu
