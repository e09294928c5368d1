#include <algorithm>
#include <array>
#include <unordered_map>

#include "common/base/check.h"
#include "common/ptx/names.h"

namespace roofwalk::ptx {
namespace {

using F = Form;
using C = CostClass;
using M = Modifiers;
constexpr OpcodeInfo kRows[] = {
#define PTX_ALU(Id, mnemonic, types, operands, modifiers, units, cost, flops, traits, semantics) \
  {mnemonic, types, F::alu, Units::units, traits, operands, M::modifiers, C::cost, flops},
#define PTX_OP(Id, mnemonic, types, form, units, traits) \
  {mnemonic, types, F::form, Units::units, traits, {}, M::none, C::plain, 0},
#include "common/ptx/table/opcodes.def"
#undef PTX_ALU
#undef PTX_OP
};

using U = Unit;
constexpr UnitsInfo kUnits[] = {
#define PTX_UNITS(name, of_f32, of_half, of_f64, of_others, besides, words) \
  {U::of_f32, U::of_half, U::of_f64, U::of_others, besides, words},
#include "common/ptx/table/units.def"
#undef PTX_UNITS
};

constexpr RefusedInstruction kRefused[] = {
#define PTX_REFUSED(begin, modifier, why) {begin, modifier, why},
#include "common/ptx/table/refused.def"
#undef PTX_REFUSED
};

}  // namespace

const std::span<const RefusedInstruction> kRefusedInstructions = kRefused;

std::string_view why_refused(std::string_view text, std::span<const std::string_view> modifiers) {
  for (const RefusedInstruction& refused : kRefused) {
    const std::string_view rest = text.starts_with(refused.begin) ? text.substr(refused.begin.size()) : "-";
    if (!rest.empty() && rest[0] != '.') continue;
    if (refused.modifier.empty() || std::find(modifiers.begin(), modifiers.end(), refused.modifier) != modifiers.end())
      return refused.why;
  }
  return {};
}

const OpcodeInfo& info(Opcode opcode) {
  const auto row = static_cast<std::size_t>(opcode);
  ROOFWALK_CHECK(row < std::size(kRows));
  return kRows[row];
}

std::vector<Opcode> all_opcodes() {
  std::vector<Opcode> opcodes;
  for (std::size_t row = 0; row < std::size(kRows); ++row) opcodes.push_back(static_cast<Opcode>(row));
  return opcodes;
}

const UnitsInfo& info(Units units) { return kUnits[static_cast<std::size_t>(units)]; }

Unit unit_of(Units units, Type type) {
  const UnitsInfo& row = info(units);
  if (type == Type::f32) return row.of_f32;
  if (type == Type::f64) return row.of_f64;
  return (bit(type) & kHalf) != 0 ? row.of_half : row.of_others;
}

std::optional<Opcode> find_opcode(std::string_view word) {
  static const auto* const by_name = [] {
    auto* rows = new std::unordered_map<std::string_view, Opcode>;
    for (const Opcode opcode : all_opcodes()) rows->emplace(info(opcode).mnemonic, opcode);
    return rows;
  }();
  const auto found = by_name->find(word);
  if (found == by_name->end()) return std::nullopt;
  return found->second;
}

}  // namespace roofwalk::ptx
