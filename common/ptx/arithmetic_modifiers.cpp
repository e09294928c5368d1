// Modifiers of arithmetic, conversions and comparisons.
#include <algorithm>

#include "common/ptx/modifier_reader.h"
#include "common/ptx/modifiers.h"

namespace roofwalk::ptx {
namespace {

constexpr RoundingSet kToInteger = bit(Rounding::rni) | bit(Rounding::rzi) | bit(Rounding::rmi) | bit(Rounding::rpi);

using M = Modifiers;
constexpr ArithmeticForm kForms[] = {
#define PTX_FORM(modifiers, types, modes, roundings, others) {M::modifiers, types, modes, roundings, others},
#include "common/ptx/table/modifiers.def"
#undef PTX_FORM
};

ArithmeticForm form_of(const Instruction& i) {
  const Modifiers modifiers = info(i.opcode).modifiers;
  const auto* const found = std::find_if(std::begin(kForms), std::end(kForms), [&](const ArithmeticForm& form) {
    return form.modifiers == modifiers && (form.types & bit(i.type)) != 0;
  });
  return found == std::end(kForms) ? ArithmeticForm{modifiers, bit(i.type)} : *found;
}

// Reads the types of both packed factors, as in dp4a.u32.s32 and dp2a.lo.u32.s32. The sum is signed if either factor
// is.
Reason read_dot(ModifierReader& reader, Instruction& i) {
  const TypeSet types = info(i.opcode).types;
  if (!reader.take_type(types, i.source_type) || !reader.take_type(types, i.second_type)) return kUnsupported;
  i.type = is_signed(i.source_type) || is_signed(i.second_type) ? Type::s32 : Type::u32;
  return reader.finish();
}

// Reads the types of the result and of both packed sources, which are the same, as in vabsdiff4.u32.u32.u32.add.
Reason read_distances(ModifierReader& reader, Instruction& i) {
  for (int number = 0; number < 3; ++number) {
    if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  }
  i.adds_up = reader.take(".add");
  return reader.finish();
}

bool take_shift(ModifierReader& reader, Instruction& i) {
  const bool left = reader.take(".l");
  if (!left && !reader.take(".r")) return false;
  const bool wrap = reader.take(".wrap");
  if (!wrap && !reader.take(".clamp")) return false;
  i.shift = left ? (wrap ? ShiftMode::left_wrap : ShiftMode::left_clamp)
                 : (wrap ? ShiftMode::right_wrap : ShiftMode::right_clamp);
  return true;
}

// Checks that modifiers.def allows the modifiers that were read.
Reason check_form(const Instruction& i) {
  const ArithmeticForm form = form_of(i);
  if ((form.modes & bit(i.mul)) == 0) {
    if (i.mul == MulMode::none) return "needs .lo, .hi or .wide";
    return kUnsupported;
  }
  if ((form.roundings & bit(i.rounding)) == 0) {
    if (i.rounding != Rounding::none) return kUnsupported;
    if (form.roundings == kApprox) return "needs .approx";
    return "needs a rounding, such as .rn";
  }
  if (i.ftz && !form.has(kFtz)) return kUnsupported;
  if (i.sat && !form.has(kSat)) return kUnsupported;
  if ((i.relu && (!form.has(kRelu) || i.sat)) || (i.nan && !form.has(kNan))) return kUnsupported;
  if (i.sat && form.modes != kNoMode && i.mul != MulMode::hi) return kUnsupported;
  if (form.has(kHalfNeedsFtz) && (bit(i.type) & kHalf) != 0 && !i.ftz) return "needs .ftz";
  if (form.has(kFtzIfApprox) && i.ftz != (i.rounding == Rounding::approx)) return kUnsupported;
  return kFine;
}

// Whether the integer type `to` can represent every value of the integer type `from`.
bool holds_all_of(Type to, Type from) {
  if (is_float(to) || is_float(from)) return false;
  if (is_signed(from)) return is_signed(to) && size_bytes(to) >= size_bytes(from);
  return size_bytes(to) >= size_bytes(from) + is_signed(to);
}

// Checks conversions of floats to two packed halves or to tf32.
Reason check_narrow_convert(const Instruction& i) {
  if (i.source_type != Type::f32 || i.ftz) return kUnsupported;
  if (i.type == Type::tf32 && i.relu) return kUnsupported;
  if (i.type == Type::tf32) return i.rounding == Rounding::rna ? kFine : "needs the rounding .rna";
  if (i.rounding == Rounding::none) return "needs a rounding: .rn or .rz";
  return i.rounding == Rounding::rn || i.rounding == Rounding::rz ? kFine : kUnsupported;
}

bool has_comparison(Type type, Compare c) {
  const bool equality = c == Compare::eq || c == Compare::ne;
  const bool ordered = c >= Compare::lt && c <= Compare::ge;
  const bool of_unsigned = c >= Compare::lo && c <= Compare::hs;
  if (is_float(type)) return !of_unsigned;
  if ((bit(type) & kBits) != 0) return equality;
  return equality || ordered || (of_unsigned && !is_signed(type));
}

// Returns the result types of a `set` that compares floats of this type; compilers generate no other `set`.
TypeSet set_results(Type compared) {
  switch (compared) {
    case Type::f32:
      return kU32 | kS32 | kF32;
    case Type::f16:
      return kU16 | kS16 | kU32 | kS32 | kF16;
    case Type::bf16:
      return kU16 | kS16 | kU32 | kS32 | kBf16;
    case Type::f16x2:
      return kU32 | kS32 | kF16x2;
    case Type::bf16x2:
      return kU32 | kS32 | kBf16x2;
    default:
      return 0;
  }
}

}  // namespace

const std::span<const ArithmeticForm> kArithmeticForms = kForms;

Reason read_arithmetic(ModifierReader& reader, Instruction& i) {
  const OpcodeInfo& row = info(i.opcode);
  if (row.modifiers == Modifiers::dot) return read_dot(reader, i);
  if (row.modifiers == Modifiers::distances) return read_distances(reader, i);
  if (row.modifiers == Modifiers::dot_of_halves) {
    const bool half = reader.take(kMulModeNames, i.mul) && i.mul != MulMode::wide;
    return half ? read_dot(reader, i) : kUnsupported;
  }
  if (row.modifiers == Modifiers::funnel_shift && !take_shift(reader, i)) return kUnsupported;
  if (row.modifiers == Modifiers::clamp_or_wrap) {
    i.wrap = reader.take(".wrap");
    if (!i.wrap && !reader.take(".clamp")) return kUnsupported;
  }
  reader.take(kMulModeNames, i.mul);
  reader.take(kRoundingNames, i.rounding);
  i.ftz = reader.take(".ftz");
  i.sat = reader.take(".sat");
  i.relu = reader.take(".relu");
  i.nan = reader.take(".NaN");
  i.shift_amount = row.modifiers == Modifiers::find && reader.take(".shiftamt");
  if (!reader.take_type(row.types, i.type)) return kUnsupported;
  if (row.modifiers == Modifiers::permute) reader.take(kPermuteModeNames, i.permute);
  return reader.at_end() ? check_form(i) : kUnsupported;
}

// Reads the modifiers of instructions with carry: add.cc, addc, addc.cc and the like, but not plain add, sub and mad.
Reason read_carry(ModifierReader& reader, Instruction& i) {
  if (has_trait(i, kMultiplies) && (!reader.take(kMulModeNames, i.mul) || i.mul == MulMode::wide)) return kUnsupported;
  i.carry_out = reader.take(".cc");
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

Reason read_number_test(ModifierReader& reader, Instruction& i) {
  if (!reader.take(kNumberTestNames, i.test)) return kUnsupported;
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

Reason read_convert(ModifierReader& reader, Instruction& i) {
  reader.take(kRoundingNames, i.rounding);
  i.ftz = reader.take(".ftz");
  const bool to_unit = reader.take(".sat");
  i.relu = reader.take(".relu");
  i.satfinite = reader.take(".satfinite");
  i.sat = to_unit;
  const TypeSet types = info(i.opcode).types;
  const TypeSet sources = types & ~(kF16x2 | kBf16x2 | kTf32);
  if (!reader.take_type(types, i.type) || !reader.take_type(sources, i.source_type)) return kUnsupported;
  if (!reader.at_end()) return kUnsupported;
  const bool narrows_f32 = i.source_type == Type::f32 && (bit(i.type) & (kHalf | kTf32)) != 0;
  if ((i.relu || i.satfinite) && (!narrows_f32 || i.sat || i.ftz)) return kUnsupported;
  if ((i.relu || i.satfinite) && i.type != Type::tf32 && i.rounding != Rounding::rn && i.rounding != Rounding::rz) {
    return kUnsupported;
  }
  if ((bit(i.type) & (kBf16x2 | kF16x2 | kTf32)) != 0) return i.sat ? kUnsupported : check_narrow_convert(i);
  const TypeSet both = bit(i.type) | bit(i.source_type);
  if ((both & kBf16) != 0 && (i.sat || (both & (kU8 | kS8)) != 0)) return kUnsupported;
  const bool to_float = is_float(i.type), from_float = is_float(i.source_type);
  const bool other_half =
      (i.type == Type::f16 && i.source_type == Type::bf16) || (i.type == Type::bf16 && i.source_type == Type::f16);
  const bool narrows = other_half || (to_float && from_float && size_bytes(i.type) < size_bytes(i.source_type));
  RoundingSet roundings = kNoRounding;
  if (to_float && (!from_float || narrows)) roundings = kIeee;
  if (!to_float && from_float) roundings = kToInteger;
  if (to_float && i.type == i.source_type) roundings = kNoRounding | kToInteger;
  if ((roundings & bit(i.rounding)) == 0) {
    if (i.rounding == Rounding::none)
      return roundings == kIeee ? "needs a rounding: .rn, .rz, .rm or .rp"
                                : "needs a rounding: .rni, .rzi, .rmi or .rpi";
    return kUnsupported;
  }
  if (i.ftz && i.type != Type::f32 && i.source_type != Type::f32) return kUnsupported;
  if (i.sat && holds_all_of(i.type, i.source_type)) return "has nothing to saturate";
  return kFine;
}

Reason read_compare(ModifierReader& reader, Instruction& i) {
  if (!reader.take(kCompareNames, i.compare)) return kUnsupported;
  reader.take(kBoolOpNames, i.bool_op);
  i.ftz = reader.take(".ftz");
  if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  if (i.ftz && i.type != Type::f32) return kUnsupported;
  if (!has_comparison(i.type, i.compare)) return "compares in a way that its type does not have";
  return reader.finish();
}

Reason read_set(ModifierReader& reader, Instruction& i) {
  if (!reader.take(kCompareNames, i.compare)) return kUnsupported;
  if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  if (!reader.take_type(kHalf | kF32, i.source_type)) return kUnsupported;
  if ((set_results(i.source_type) & bit(i.type)) == 0) return kUnsupported;
  if (!has_comparison(i.source_type, i.compare)) return "compares in a way that its type does not have";
  return reader.finish();
}

}  // namespace roofwalk::ptx
