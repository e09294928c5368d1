// Which bits of a result are unset, against all values that the unset bits of its sources may have.
#include "common/vgpu/exec/unset_bits.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <functional>
#include <ostream>
#include <span>
#include <string>

#include "common/base/mix.h"
#include "common/vgpu/exec/ops/semantics.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Type;
using Values = std::array<std::uint32_t, 4>;

struct UnsetCase {
  const char* name;
  Opcode opcode;
  Type type;
  std::size_t sources;
  std::function<std::uint32_t(const Values&)> compute;
  bool is_exact = true;      // else, bits that are set may count as unset
  std::size_t set_from = 4;  // sources from this one on are set, and small
  ptx::ShiftMode shift = ptx::ShiftMode::none;
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

const UnsetCase kUnsetCases[] = {
    {"And", Opcode::And, Type::b32, 2, [](const Values& v) { return v[0] & v[1]; }},
    {"Or", Opcode::Or, Type::b32, 2, [](const Values& v) { return v[0] | v[1]; }},
    {"Xor", Opcode::Xor, Type::b32, 2, [](const Values& v) { return v[0] ^ v[1]; }},
    {"Not", Opcode::Not, Type::b32, 1, [](const Values& v) { return ~v[0]; }},
    {"Lop3", Opcode::Lop3, Type::b32, 4, lop3, true, 3},
    {"ShiftLeft", Opcode::Shl, Type::b32, 2, shl, true, 1},
    {"ShiftRight", Opcode::Shr, Type::u32, 2, shr, true, 1},
    {"ShiftRightSigned", Opcode::Shr, Type::s32, 2, sar, true, 1},
    {"ShiftByUnset", Opcode::Shl, Type::b32, 2, shl, false},
    {"FunnelLeft", Opcode::Shf, Type::b32, 3, left, true, 2, ptx::ShiftMode::left_wrap},
    {"FunnelRight", Opcode::Shf, Type::b32, 3, right, true, 2, ptx::ShiftMode::right_clamp},
    {"Field", Opcode::Bfe, Type::u32, 3, bfe, true, 1},
    {"SignedField", Opcode::Bfe, Type::s32, 3, signed_bfe, true, 1},
    {"InsertedField", Opcode::Bfi, Type::b32, 4, bfi, true, 2},
    {"Reversed", Opcode::Brev, Type::b32, 1, [](const Values& v) { return sem::Brev::apply(v[0]); }},
    {"Permuted", Opcode::Prmt, Type::b32, 3, prmt, true, 2},
    {"PermutedByUnset", Opcode::Prmt, Type::b32, 3, prmt, false},
    {"Sum", Opcode::Add, Type::u32, 2, [](const Values& v) { return v[0] + v[1]; }},
    {"Difference", Opcode::Sub, Type::s32, 2, [](const Values& v) { return v[0] - v[1]; }},
    {"Product", Opcode::Mul, Type::u32, 2, [](const Values& v) { return v[0] * v[1]; }, false},
    {"ProductSum", Opcode::Mad, Type::u32, 3, [](const Values& v) { return v[0] * v[1] + v[2]; }, false},
    {"Quotient", Opcode::Div, Type::u32, 2, [](const Values& v) { return v[1] == 0 ? ~0u : v[0] / v[1]; }, false},
};

void PrintTo(const UnsetCase& each, std::ostream* out) { *out << each.name; }

class UnsetBits : public testing::TestWithParam<UnsetCase> {};

TEST_P(UnsetBits, AreThoseThatMayDiffer) {
  const UnsetCase& each = GetParam();
  Instruction in;
  in.opcode = each.opcode;
  in.type = each.type;
  in.shift = each.shift;
  if (each.opcode == Opcode::Mul || each.opcode == Opcode::Mad) in.mul = ptx::MulMode::lo;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    const auto chance = [&](std::uint64_t i) { return static_cast<std::uint32_t>(mix(trial * 64 + i + 1)); };
    Values value{}, unset{};
    std::array<UnsetSource, 4> sources;
    for (std::size_t i = 0; i < each.sources; ++i) {
      value[i] = i >= each.set_from ? chance(i) % 41 : chance(i);
      for (std::uint64_t b = 0; b < 3 && i < each.set_from; ++b) unset[i] |= 1u << chance(8 + 4 * i + b) % 32;
      if (chance(40 + i) % 3 == 0) unset[i] = 0;
      sources[i] = {unset[i], value[i] & ~unset[i], true};
    }
    if (each.opcode == Opcode::Lop3) sources[3].value = value[3] = chance(3) & 0xff;
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
    if (each.is_exact) {
      EXPECT_EQ(found, differing) << trial;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Exec, UnsetBits, testing::ValuesIn(kUnsetCases),
                         [](const auto& each) { return std::string(each.param.name); });

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
