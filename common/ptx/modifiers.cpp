#include "common/ptx/modifiers.h"

#include "common/ptx/names.h"

namespace roofwalk::ptx {
namespace {

using Reason = std::optional<std::string>;
const Reason kFine = std::nullopt;
const Reason kUnsupported = std::string{};

constexpr unsigned kNoRounding = rounding_bit(Rounding::none);
constexpr unsigned kIeee =
    rounding_bit(Rounding::rn) | rounding_bit(Rounding::rz) | rounding_bit(Rounding::rm) | rounding_bit(Rounding::rp);
constexpr unsigned kToInteger = rounding_bit(Rounding::rni) | rounding_bit(Rounding::rzi) |
                                rounding_bit(Rounding::rmi) | rounding_bit(Rounding::rpi);
constexpr unsigned kApprox = rounding_bit(Rounding::approx);
constexpr unsigned kFull = rounding_bit(Rounding::full);
constexpr unsigned kNearest = rounding_bit(Rounding::rn);

constexpr unsigned kNoMode = mode_bit(MulMode::none);
constexpr unsigned kLoHi = mode_bit(MulMode::lo) | mode_bit(MulMode::hi);
constexpr unsigned kWide = mode_bit(MulMode::wide);
constexpr TypeSet kNarrowInt = kU16 | kS16 | kU32 | kS32;

constexpr AluForm kAluForms[] = {
    {Opcode::Abs, kF16 | kF16x2 | kF32, kNoRounding, true},
    {Opcode::Add, kS32, kNoRounding, false, true},
    {Opcode::Add, kF16 | kF16x2, kNoRounding | kNearest, true, true},
    {Opcode::Add, kBf16 | kBf16x2, kNoRounding | kNearest},
    {Opcode::Add, kF32, kNoRounding | kIeee, true, true},
    {Opcode::Add, kF64, kNoRounding | kIeee},
    {Opcode::Cos, kF32, kApprox, true},
    {Opcode::Div, kF32, kIeee | kApprox | kFull, true},
    {Opcode::Div, kF64, kIeee},
    {Opcode::Ex2, kBf16 | kBf16x2 | kF32, kApprox, true},
    {Opcode::Ex2, kF16 | kF16x2, kApprox},
    {Opcode::Fma, kF16 | kF16x2, kNearest, true, true, kNoMode, true},
    {Opcode::Fma, kBf16 | kBf16x2, kNearest, false, false, kNoMode, true},
    {Opcode::Fma, kF32, kIeee, true, true},
    {Opcode::Fma, kF64, kIeee},
    {Opcode::Lg2, kF32, kApprox, true},
    {Opcode::Mad, kS32, kNoRounding, false, true, kLoHi | kWide},
    {Opcode::Mad, kNarrowInt, kNoRounding, false, false, kLoHi | kWide},
    {Opcode::Mad, kU64 | kS64, kNoRounding, false, false, kLoHi},
    {Opcode::Mad, kF32, kIeee, true, true},
    {Opcode::Mad, kF64, kIeee},
    {Opcode::Mad24, kU32, kNoRounding, false, false, kLoHi},
    {Opcode::Mad24, kS32, kNoRounding, false, true, kLoHi},
    {Opcode::Max, kF16 | kF16x2 | kF32, kNoRounding, true, false, kNoMode, false, true},
    {Opcode::Max, kBf16 | kBf16x2, kNoRounding, false, false, kNoMode, false, true},
    {Opcode::Min, kF16 | kF16x2 | kF32, kNoRounding, true, false, kNoMode, false, true},
    {Opcode::Min, kBf16 | kBf16x2, kNoRounding, false, false, kNoMode, false, true},
    {Opcode::Mul, kNarrowInt, kNoRounding, false, false, kLoHi | kWide},
    {Opcode::Mul, kU64 | kS64, kNoRounding, false, false, kLoHi},
    {Opcode::Mul, kF16 | kF16x2, kNoRounding | kNearest, true, true},
    {Opcode::Mul, kBf16 | kBf16x2, kNoRounding | kNearest},
    {Opcode::Mul, kF32, kNoRounding | kIeee, true, true},
    {Opcode::Mul, kF64, kNoRounding | kIeee},
    {Opcode::Mul24, kU32 | kS32, kNoRounding, false, false, kLoHi},
    {Opcode::Neg, kF16 | kF16x2 | kF32, kNoRounding, true},
    {Opcode::Rcp, kF32, kIeee | kApprox, true},
    {Opcode::Rcp, kF64, kIeee | kApprox, true},
    {Opcode::Rsqrt, kF32, kApprox, true},
    {Opcode::Rsqrt, kF64, kApprox, true},
    {Opcode::Sin, kF32, kApprox, true},
    {Opcode::Sqrt, kF32, kIeee | kApprox, true},
    {Opcode::Sqrt, kF64, kIeee},
    {Opcode::Sub, kS32, kNoRounding, false, true},
    {Opcode::Sub, kF16 | kF16x2, kNoRounding | kNearest, true, true},
    {Opcode::Sub, kBf16 | kBf16x2, kNoRounding | kNearest},
    {Opcode::Sub, kF32, kNoRounding | kIeee, true, true},
    {Opcode::Sub, kF64, kNoRounding | kIeee},
    {Opcode::Tanh, kHalf | kF32, kApprox},
};

AluForm alu_form(Opcode opcode, Type type) {
  for (const AluForm& form : kAluForms) {
    if (form.opcode == opcode && (form.types & bit(type)) != 0) return form;
  }
  return {opcode, bit(type)};
}

class Reader {
 public:
  explicit Reader(std::span<const std::string_view> words) : words_(words) {}

  bool take(std::string_view word) {
    const bool here = at_ < words_.size() && words_[at_] == word;
    at_ += here;
    return here;
  }
  template <class Value>
  bool take(std::span<const Name<Value>> names, Value& value) {
    if (at_ >= words_.size()) return false;
    const auto found = find_name(names, words_[at_]);
    if (!found) return false;
    value = *found;
    ++at_;
    return true;
  }
  bool take_type(TypeSet types, Type& type) {
    Type found{};
    const std::size_t before = at_;
    if (!take(kTypeNames, found) || (types & bit(found)) == 0) {
      at_ = before;
      return false;
    }
    type = found;
    return true;
  }
  bool take_any(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      if (take(word)) return true;
    }
    return false;
  }
  bool at_end() const { return at_ == words_.size(); }
  Reason finish() const { return at_end() ? kFine : kUnsupported; }

 private:
  std::span<const std::string_view> words_;
  std::size_t at_ = 0;
};

bool take_scope(Reader& reader, Instruction& i) {
  i.of_block = reader.take(".cta");
  return i.of_block || reader.take_any({".gpu", ".sys"});
}

// dp4a.{u32,s32}.{u32,s32}, dp2a.{lo,hi}...: the types of the packed factors; the sum is signed where one of them is.
Reason read_dot(Reader& reader, Instruction& i) {
  if (i.opcode == Opcode::Dp2a && (!reader.take(kMulModeNames, i.mul) || i.mul == MulMode::wide)) return kUnsupported;
  const TypeSet types = info(i.opcode).types;
  if (!reader.take_type(types, i.source_type) || !reader.take_type(types, i.second_type)) return kUnsupported;
  i.type = is_signed(i.source_type) || is_signed(i.second_type) ? Type::s32 : Type::u32;
  return reader.finish();
}

Reason read_alu(Reader& reader, Instruction& i) {
  if (i.opcode == Opcode::Shf) {
    const bool left = reader.take(".l");
    if (!left && !reader.take(".r")) return kUnsupported;
    const bool wrap = reader.take(".wrap");
    if (!wrap && !reader.take(".clamp")) return kUnsupported;
    i.shift = left ? (wrap ? ShiftMode::left_wrap : ShiftMode::left_clamp)
                   : (wrap ? ShiftMode::right_wrap : ShiftMode::right_clamp);
  }
  if (i.opcode == Opcode::Bmsk) {
    i.wrap = reader.take(".wrap");
    if (!i.wrap && !reader.take(".clamp")) return kUnsupported;
  }
  if (i.opcode == Opcode::Dp4a || i.opcode == Opcode::Dp2a) return read_dot(reader, i);
  reader.take(kMulModeNames, i.mul);
  reader.take(kRoundingNames, i.rounding);
  i.ftz = reader.take(".ftz");
  i.sat = reader.take(".sat");
  i.relu = reader.take(".relu");
  i.nan = reader.take(".NaN");
  i.shift_amount = i.opcode == Opcode::Bfind && reader.take(".shiftamt");
  if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  if (i.opcode == Opcode::Prmt) reader.take(kPermuteModeNames, i.permute);
  if (!reader.at_end()) return kUnsupported;

  const AluForm form = alu_form(i.opcode, i.type);
  if ((form.modes & mode_bit(i.mul)) == 0) {
    if (i.mul == MulMode::none) return "needs .lo, .hi or .wide";
    return kUnsupported;
  }
  if ((form.roundings & rounding_bit(i.rounding)) == 0) {
    if (i.rounding != Rounding::none) return kUnsupported;
    if (form.roundings == kApprox) return "needs .approx";
    return "needs a rounding, such as .rn";
  }
  if (i.ftz && !form.ftz) return kUnsupported;
  if (i.sat && !form.sat) return kUnsupported;
  if ((i.relu && (!form.relu || i.sat)) || (i.nan && !form.nan)) return kUnsupported;
  if (i.sat && form.modes != kNoMode && i.mul != MulMode::hi) return kUnsupported;  // of mad and mad24, only .hi has it
  if (i.opcode == Opcode::Ex2 && (bit(i.type) & (kBf16 | kBf16x2)) != 0 && !i.ftz) return "needs .ftz";
  const bool approx = i.rounding == Rounding::approx;
  if (i.opcode == Opcode::Rcp && i.type == Type::f64 && i.ftz != approx) return kUnsupported;
  return kFine;
}

// add.cc, addc, addc.cc and the like: what does neither set nor read the flag comes here no more.
Reason read_carry(Reader& reader, Instruction& i) {
  if (i.opcode == Opcode::Madc && (!reader.take(kMulModeNames, i.mul) || i.mul == MulMode::wide)) return kUnsupported;
  i.carry_out = reader.take(".cc");
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

// Whether every value of the integer type `from` is one of the integer type `to`.
bool holds_all_of(Type to, Type from) {
  if (is_float(to) || is_float(from)) return false;
  if (is_signed(from)) return is_signed(to) && size_bytes(to) >= size_bytes(from);
  return size_bytes(to) >= size_bytes(from) + is_signed(to);
}

// Floats into a register of two halves or a tf32.
Reason check_narrow_convert(const Instruction& i) {
  if (i.source_type != Type::f32 || i.ftz) return kUnsupported;
  if (i.type == Type::tf32 && i.relu) return kUnsupported;
  if (i.type == Type::tf32) return i.rounding == Rounding::rna ? kFine : "needs the rounding .rna";
  if (i.rounding == Rounding::none) return "needs a rounding: .rn or .rz";
  return i.rounding == Rounding::rn || i.rounding == Rounding::rz ? kFine : kUnsupported;
}

Reason read_convert(Reader& reader, Instruction& i) {
  reader.take(kRoundingNames, i.rounding);
  i.ftz = reader.take(".ftz");
  const bool to_unit = reader.take(".sat");
  i.relu = reader.take(".relu");
  i.satfinite = reader.take(".satfinite");
  if (!i.relu) i.relu = reader.take(".relu");
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
  unsigned roundings = kNoRounding;
  if (to_float && (!from_float || narrows)) roundings = kIeee;
  if (!to_float && from_float) roundings = kToInteger;
  if (to_float && i.type == i.source_type) roundings = kNoRounding | kToInteger;
  if ((roundings & rounding_bit(i.rounding)) == 0) {
    if (i.rounding == Rounding::none)
      return roundings == kIeee ? "needs a rounding: .rn, .rz, .rm or .rp"
                                : "needs a rounding: .rni, .rzi, .rmi or .rpi";
    return kUnsupported;
  }
  if (i.ftz && i.type != Type::f32 && i.source_type != Type::f32) return kUnsupported;
  if (i.sat && holds_all_of(i.type, i.source_type)) return "has nothing to saturate";
  return kFine;
}

bool has_comparison(Type type, Compare c) {
  const bool equality = c == Compare::eq || c == Compare::ne;
  const bool ordered = c >= Compare::lt && c <= Compare::ge;
  const bool of_unsigned = c >= Compare::lo && c <= Compare::hs;
  if (is_float(type)) return !of_unsigned;
  if ((bit(type) & kBits) != 0) return equality;
  return equality || ordered || (of_unsigned && !is_signed(type));
}

Reason read_compare(Reader& reader, Instruction& i) {
  if (!reader.take(kCompareNames, i.compare)) return kUnsupported;
  reader.take(kBoolOpNames, i.bool_op);
  i.ftz = reader.take(".ftz");
  if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  if (i.ftz && i.type != Type::f32) return kUnsupported;
  if (!has_comparison(i.type, i.compare)) return "compares in a way that its type does not have";
  return reader.finish();
}

// Of `set`, what compilers write: comparisons of floats.
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

Reason read_set(Reader& reader, Instruction& i) {
  if (!reader.take(kCompareNames, i.compare)) return kUnsupported;
  if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  if (!reader.take_type(kHalf | kF32, i.source_type)) return kUnsupported;
  if ((set_results(i.source_type) & bit(i.type)) == 0) return kUnsupported;
  if (!has_comparison(i.source_type, i.compare)) return "compares in a way that its type does not have";
  return reader.finish();
}

// .weak, .volatile, .relaxed.scope, .acquire.scope (loads) or .release.scope (stores).
bool read_semantics(Reader& reader, Instruction& i) {
  if (reader.take(".weak")) return true;
  if (reader.take(".volatile")) {
    i.is_volatile = true;
    return true;
  }
  const bool is_load = i.opcode == Opcode::Ld;
  const bool ordered = reader.take(is_load ? ".acquire" : ".release");
  if (ordered || reader.take(".relaxed")) {
    i.is_volatile = true;
    i.acquires = ordered && is_load;
    i.releases = ordered && !is_load;
    return take_scope(reader, i);
  }
  return true;
}

Reason read_memory(Reader& reader, Instruction& i) {
  const bool is_load = i.opcode == Opcode::Ld;
  if (!read_semantics(reader, i)) return kUnsupported;
  reader.take(kSpaceNames, i.space);
  const bool is_global = i.space == Space::global;
  const bool has_cache = reader.take(is_load ? kLoadCacheNames : kStoreCacheNames, i.cache);
  i.non_coherent = is_load && is_global && reader.take(".nc");
  i.no_allocate = reader.take(".L1::no_allocate");
  const bool has_hint = i.no_allocate || reader.take_any({".L1::evict_normal", ".L1::evict_unchanged",
                                                          ".L1::evict_first", ".L1::evict_last"});
  i.has_policy = reader.take(".L2::cache_hint");
  const bool has_prefetch = is_load && reader.take_any({".L2::64B", ".L2::128B", ".L2::256B"});
  if (i.is_volatile && (has_cache || i.non_coherent)) return kUnsupported;
  if (i.is_volatile && i.space != Space::generic && !is_global && i.space != Space::shared) return kUnsupported;
  if (i.non_coherent && (i.cache == CacheHint::lu || i.cache == CacheHint::cv)) return kUnsupported;
  if ((has_hint || has_prefetch || i.has_policy) && !is_global && i.space != Space::generic) return kUnsupported;
  if (has_cache && has_hint) return kUnsupported;
  if (!is_load && i.space == Space::constant) return "writes to constant memory";
  if (reader.take(".v2")) i.vector = 2;
  if (reader.take(".v4")) i.vector = 4;
  if (!reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  if (i.vector * size_bytes(i.type) > 16) return "moves more than 16 bytes";
  return reader.finish();
}

bool take_shared(Reader& reader) { return reader.take_any({".shared", ".shared::cta"}); }

Reason read_matrix_load(Reader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(".aligned") || !reader.take(".m8n8")) return kUnsupported;
  if (reader.take(".x2"))
    i.vector = 2;
  else if (reader.take(".x4"))
    i.vector = 4;
  else if (!reader.take(".x1"))
    return kUnsupported;
  i.transposed = reader.take(".trans");
  if (!take_shared(reader)) return kUnsupported;
  i.space = Space::shared;
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

// Shapes and types of mma.sync and of wmma on sm_80; which sums go with them, below.
struct MatrixForm {
  std::string_view word;
  MatrixShape shape;
  TypeSet factors;
};
constexpr TypeSet kBytes = kS8 | kU8;
constexpr MatrixForm kMatrixForms[] = {
    {".m8n8k4", {8, 8, 4}, kF64},
    {".m8n8k16", {8, 8, 16}, kBytes},
    {".m16n8k4", {16, 8, 4}, kTf32},
    {".m16n8k8", {16, 8, 8}, kF16 | kBf16 | kTf32},
    {".m16n8k16", {16, 8, 16}, kF16 | kBf16 | kBytes},
    {".m16n8k32", {16, 8, 32}, kBytes},
};
constexpr MatrixForm kFragmentForms[] = {
    {".m8n8k4", {8, 8, 4}, kF64},
    {".m16n16k8", {16, 16, 8}, kTf32},
    {".m16n16k16", {16, 16, 16}, kF16 | kBf16 | kBytes},
    {".m8n32k16", {8, 32, 16}, kF16 | kBf16 | kBytes},
    {".m32n8k16", {32, 8, 16}, kF16 | kBf16 | kBytes},
};

// What factors of this type can be summed up in.
TypeSet sum_types(Type factor) {
  switch (factor) {
    case Type::f16:
      return kF16 | kF32;
    case Type::f64:
      return kF64;
    case Type::s8:
    case Type::u8:
      return kS32;
    default:
      return kF32;
  }
}

// Takes the shape, and says which factors it has; none where there is no such shape.
TypeSet take_shape(Reader& reader, std::span<const MatrixForm> forms, Instruction& i) {
  for (const MatrixForm& form : forms) {
    if (!reader.take(form.word)) continue;
    i.shape = form.shape;
    return form.factors;
  }
  return 0;
}

// Of d, a, b and c. Bytes may differ in sign; other factors are of one type, and sums too.
Reason take_matrix_types(Reader& reader, TypeSet factors, Instruction& i) {
  if (!reader.take_type(info(i.opcode).types, i.type) || !reader.take_type(factors, i.source_type)) return kUnsupported;
  const bool bytes = (bit(i.source_type) & kBytes) != 0;
  if (!reader.take_type(bytes ? kBytes : bit(i.source_type), i.second_type)) return kUnsupported;
  const TypeSet sums = sum_types(i.source_type);
  if ((sums & bit(i.type)) == 0 || !reader.take_type(sums, i.sum_type)) return kUnsupported;
  return kFine;
}

// mma.sync.aligned.shape.row.col{.satfinite}.d.a.b.c: d and c are of one type.
Reason read_matrix_multiply(Reader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(".aligned")) return kUnsupported;
  const TypeSet factors = take_shape(reader, kMatrixForms, i);
  if (!reader.take(".row") || !reader.take(".col")) return kUnsupported;
  i.satfinite = reader.take(".satfinite");
  if (const Reason reason = take_matrix_types(reader, factors, i)) return reason;
  if (i.type != i.sum_type) return kUnsupported;
  if (i.type == Type::f64 && reader.take(kRoundingNames, i.rounding) && i.rounding != Rounding::rn) return kUnsupported;
  return i.satfinite && i.type != Type::s32 ? kUnsupported : reader.finish();
}

// wmma.mma.sync.aligned.{row,col}.{row,col}.shape.d{.a.b}.c{.satfinite}: a and b go unsaid where they are f16. How the
// factors lay in memory does not matter any more.
Reason read_fragment_multiply(Reader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(".aligned")) return kUnsupported;
  if (!reader.take_any({".row", ".col"}) || !reader.take_any({".row", ".col"})) return kUnsupported;
  const TypeSet factors = take_shape(reader, kFragmentForms, i);
  Reader unsaid = reader;
  if ((factors & kF16) != 0 && unsaid.take_type(kF16 | kF32, i.type) && unsaid.take_type(kF16 | kF32, i.sum_type)) {
    i.source_type = i.second_type = Type::f16;
    return unsaid.finish();
  }
  if (const Reason reason = take_matrix_types(reader, factors & ~kF16, i)) return reason;
  if (i.type != i.sum_type) return kUnsupported;
  if (i.source_type != i.second_type) return kUnsupported;
  if (i.type == Type::f64 && reader.take(kRoundingNames, i.rounding) && i.rounding != Rounding::rn) return kUnsupported;
  i.satfinite = i.type == Type::s32 && reader.take(".satfinite");
  return reader.finish();
}

// wmma.load.{a,b,c}, wmma.store.d: .sync.aligned.{row,col}.shape{.space}.type
Reason read_fragment(Reader& reader, Instruction& i) {
  const bool is_store = i.opcode == Opcode::WmmaStore;
  if (!reader.take(kFragmentNames, i.fragment) || (i.fragment == Fragment::d) != is_store) return kUnsupported;
  if (!reader.take(".sync") || !reader.take(".aligned")) return kUnsupported;
  i.by_columns = reader.take(".col");
  if (!i.by_columns && !reader.take(".row")) return kUnsupported;
  const TypeSet factors = take_shape(reader, kFragmentForms, i);
  if (reader.take(kSpaceNames, i.space) && i.space != Space::global && i.space != Space::shared) return kUnsupported;
  const bool is_factor = i.fragment == Fragment::a || i.fragment == Fragment::b;
  TypeSet sums = 0;
  for (const Type factor : {Type::f16, Type::bf16, Type::tf32, Type::f64, Type::s8}) {
    if ((factors & bit(factor)) != 0) sums |= sum_types(factor);
  }
  return reader.take_type(is_factor ? factors : sums, i.type) ? reader.finish() : kUnsupported;
}

// createpolicy.fractional.L2::x{.L2::y}.b64
Reason read_cache_policy(Reader& reader, Instruction& i) {
  const auto first = {std::string_view(".L2::evict_last"), std::string_view(".L2::evict_normal"),
                      std::string_view(".L2::evict_first"), std::string_view(".L2::evict_unchanged")};
  if (!reader.take(".fractional") || !reader.take_any(first)) return kUnsupported;
  reader.take_any({".L2::evict_first", ".L2::evict_unchanged"});
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

Reason read_async_copy(Reader& reader, Instruction& i) {
  if (!reader.take(".async")) return kUnsupported;
  if (reader.take(".commit_group")) {
    i.async = AsyncMode::commit_group;
  } else if (reader.take(".wait_group")) {
    i.async = AsyncMode::wait_group;
  } else if (reader.take(".wait_all")) {
    i.async = AsyncMode::wait_all;
  } else if (reader.take(".mbarrier")) {
    i.async = AsyncMode::mbarrier_arrive;
    if (!reader.take(".arrive")) return kUnsupported;
    i.no_increment = reader.take(".noinc");
    if (take_shared(reader)) i.space = Space::shared;
    if (!reader.take_type(kB64, i.type)) return kUnsupported;
  } else {
    i.async = AsyncMode::copy;
    i.space = Space::global;
    if (!reader.take(kLoadCacheNames, i.cache) || (i.cache != CacheHint::ca && i.cache != CacheHint::cg)) {
      return kUnsupported;
    }
    if (!take_shared(reader) || !reader.take(".global")) return kUnsupported;
    i.has_policy = reader.take(".L2::cache_hint");
    reader.take_any({".L2::64B", ".L2::128B", ".L2::256B"});
  }
  return reader.finish();
}

TypeSet atomic_types(AtomicOp op) {
  switch (op) {
    case AtomicOp::add:
      return kU32 | kS32 | kU64 | kF16 | kF16x2 | kF32 | kF64;
    case AtomicOp::min:
    case AtomicOp::max:
      return kU32 | kS32 | kU64 | kS64;
    case AtomicOp::inc:
    case AtomicOp::dec:
      return kU32;
    case AtomicOp::cas:
      return kBits;
    case AtomicOp::none:
      return 0;
    default:
      return kB32 | kB64;
  }
}

Reason read_atomic(Reader& reader, Instruction& i) {
  const bool is_reduction = i.opcode == Opcode::Red;
  // The machine runs its warps in one order: every atomic is as strong as any program asks. The sanitizer minds.
  const auto take_order = [&] {
    if (reader.take(".relaxed")) return true;
    const bool both = !is_reduction && reader.take(".acq_rel");
    i.acquires = both || (!is_reduction && reader.take(".acquire"));
    i.releases = both || (!i.acquires && reader.take(".release"));
    i.is_volatile = i.acquires || i.releases;
    return i.is_volatile;
  };
  const bool ordered = take_order();
  bool scoped = take_scope(reader, i);
  if (reader.take(kSpaceNames, i.space) && i.space != Space::global && i.space != Space::shared) return kUnsupported;
  // nvcc writes atomicAdd_block as `atom.global.cta.add.u32`, which ptxas takes as well.
  if (!ordered && !scoped) scoped = take_scope(reader, i);
  if (!reader.take(kAtomicOpNames, i.atomic)) return kUnsupported;
  // libcu++ writes `atom.add.acquire.cta.u32`, which ptxas takes as well.
  if (!ordered && !scoped && take_order() && !take_scope(reader, i)) return kUnsupported;
  if (is_reduction && (i.atomic == AtomicOp::exch || i.atomic == AtomicOp::cas)) return kUnsupported;
  const bool keeps_subnormals = reader.take(".noftz");
  i.has_policy = reader.take(".L2::cache_hint");
  if (!reader.take_type(info(i.opcode).types & atomic_types(i.atomic), i.type)) return kUnsupported;
  const bool half = (bit(i.type) & kHalf) != 0;
  if (half && !keeps_subnormals) return "needs .noftz";
  if (!half && keeps_subnormals) return kUnsupported;
  if (i.has_policy && (i.space == Space::shared || i.atomic == AtomicOp::cas)) return kUnsupported;
  return reader.finish();
}

Reason read_barrier(Reader& reader, Instruction& i) {
  if (i.opcode == Opcode::Bar && reader.take(".warp")) {
    i.barrier = BarrierMode::warp_sync;
    return reader.take(".sync") ? reader.finish() : kUnsupported;
  }
  reader.take(".cta");
  if (reader.take(".sync")) {
    i.barrier = BarrierMode::sync;
  } else if (reader.take(".arrive")) {
    i.barrier = BarrierMode::arrive;
  } else if (reader.take(".red")) {
    if (reader.take(".popc"))
      i.barrier = BarrierMode::red_popc;
    else if (reader.take(".and"))
      i.barrier = BarrierMode::red_and;
    else if (reader.take(".or"))
      i.barrier = BarrierMode::red_or;
    else
      return kUnsupported;
  } else {
    return kUnsupported;
  }
  if (i.opcode == Opcode::Barrier) reader.take(".aligned");
  if (i.barrier == BarrierMode::red_popc && !reader.take_type(kU32, i.type)) return kUnsupported;
  if ((i.barrier == BarrierMode::red_and || i.barrier == BarrierMode::red_or) && !reader.take_type(kPred, i.type)) {
    return kUnsupported;
  }
  return reader.finish();
}

Reason read_vote(Reader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(kVoteModeNames, i.vote)) return kUnsupported;
  if (!reader.take_type(i.vote == VoteMode::ballot ? kB32 : kPred, i.type)) return kUnsupported;
  return reader.finish();
}

Reason read_warp_reduce(Reader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(kAtomicOpNames, i.atomic)) return kUnsupported;
  const bool orders = i.atomic == AtomicOp::add || i.atomic == AtomicOp::min || i.atomic == AtomicOp::max;
  const bool bits = i.atomic == AtomicOp::and_ || i.atomic == AtomicOp::or_ || i.atomic == AtomicOp::xor_;
  if (!reader.take_type(orders ? kU32 | kS32 : bits ? kB32 : 0, i.type)) return kUnsupported;
  return reader.finish();
}

Reason read_warp_match(Reader& reader, Instruction& i) {
  if (!reader.take(kVoteModeNames, i.vote) || (i.vote != VoteMode::any && i.vote != VoteMode::all)) return kUnsupported;
  if (!reader.take(".sync") || !reader.take_type(info(i.opcode).types, i.type)) return kUnsupported;
  return reader.finish();
}

// The semantics that later versions write out are those that the short forms have: releases on arrival, acquires on a
// wait, within the block.
Reason read_mbarrier(Reader& reader, Instruction& i) {
  if (!reader.take(kMbarrierModeNames, i.mbarrier)) return kUnsupported;
  const bool arrives = i.mbarrier == MbarrierMode::arrive || i.mbarrier == MbarrierMode::arrive_drop;
  const bool waits = i.mbarrier == MbarrierMode::test_wait || i.mbarrier == MbarrierMode::try_wait;
  if (arrives) i.needs_count = reader.take(".noComplete");
  i.parity = waits && reader.take(".parity");
  if ((arrives && reader.take(".release")) || (waits && reader.take(".acquire"))) {
    if (!reader.take(".cta")) return kUnsupported;
  }
  if (i.mbarrier != MbarrierMode::pending_count && take_shared(reader)) i.space = Space::shared;
  return reader.take_type(info(i.opcode).types, i.type) ? reader.finish() : kUnsupported;
}

Reason read_fence(Reader& reader, Instruction& i) {
  if (i.opcode == Opcode::Membar) {
    i.of_block = reader.take(".cta");
    return i.of_block || reader.take_any({".gl", ".sys"}) ? reader.finish() : kUnsupported;
  }
  reader.take_any({".sc", ".acq_rel"});
  return take_scope(reader, i) ? reader.finish() : kUnsupported;
}

}  // namespace

const std::span<const AluForm> kArithmeticForms = kAluForms;

Reason read_modifiers(std::span<const std::string_view> words, Instruction& i) {
  Reader reader(words);
  const OpcodeInfo& row = info(i.opcode);
  switch (row.form) {
    case Form::alu:
      return read_alu(reader, i);
    case Form::carry:
      return read_carry(reader, i);
    case Form::convert:
      return read_convert(reader, i);
    case Form::compare:
      return read_compare(reader, i);
    case Form::set:
      return read_set(reader, i);
    case Form::load:
    case Form::store:
      return read_memory(reader, i);
    case Form::matrix_load:
      return read_matrix_load(reader, i);
    case Form::matrix_multiply:
      return i.opcode == Opcode::Mma ? read_matrix_multiply(reader, i) : read_fragment_multiply(reader, i);
    case Form::fragment_load:
    case Form::fragment_store:
      return read_fragment(reader, i);
    case Form::cache_policy:
      return read_cache_policy(reader, i);
    case Form::async_copy:
      return read_async_copy(reader, i);
    case Form::atomic:
    case Form::reduction:
      return read_atomic(reader, i);
    case Form::barrier:
      return read_barrier(reader, i);
    case Form::vote:
      return read_vote(reader, i);
    case Form::fence:
      return read_fence(reader, i);
    case Form::warp_reduce:
      return read_warp_reduce(reader, i);
    case Form::warp_match:
      return read_warp_match(reader, i);
    case Form::mbarrier:
      return read_mbarrier(reader, i);
    case Form::space_query:
      return reader.take(kSpaceNames, i.space) ? reader.finish() : kUnsupported;
    case Form::cvta:
      i.to = reader.take(".to");
      if (!reader.take(kSpaceNames, i.space)) return kUnsupported;
      return reader.take_type(row.types, i.type) ? reader.finish() : kUnsupported;
    case Form::move:
    case Form::select:
    case Form::active_mask:
    case Form::sleep:
      return reader.take_type(row.types, i.type) ? reader.finish() : kUnsupported;
    case Form::shuffle:
      if (!reader.take(".sync") || !reader.take(kShuffleModeNames, i.shuffle)) return kUnsupported;
      return reader.take_type(row.types, i.type) ? reader.finish() : kUnsupported;
    case Form::prefetch:
      if (reader.take(kSpaceNames, i.space) && i.space != Space::global && i.space != Space::local) return kUnsupported;
      if (i.space == Space::global && reader.take_any({".L2::evict_last", ".L2::evict_normal"})) return reader.finish();
      return reader.take_any({".L1", ".L2"}) ? reader.finish() : kUnsupported;
    case Form::branch:
    case Form::indexed_branch:
    case Form::call:
    case Form::leave:
      if (i.opcode != Opcode::Exit) i.uni = reader.take(".uni");
      return reader.finish();
    case Form::trap:
      return reader.finish();
  }
  return kUnsupported;
}

}  // namespace roofwalk::ptx
