// Modifiers of matrix instructions, and their supported shapes.
#include "common/ptx/modifier_reader.h"

namespace roofwalk::ptx {
namespace {

// A shape of mma.sync or wmma on sm_80, and the factor types that it allows. sum_types() gives the types of sums.
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

// Returns the types in which products of these factors can be summed.
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

// Reads the shape and returns the types of its factors; 0 if there is no such shape.
TypeSet take_shape(ModifierReader& reader, std::span<const MatrixForm> forms, Instruction& i) {
  for (const MatrixForm& form : forms) {
    if (!reader.take(form.word)) continue;
    i.shape = form.shape;
    return form.factors;
  }
  return 0;
}

// Reads the types of d, a, b and c. 8-bit factors may differ in sign; other factors have the same type. d and c must be
// able to hold sums of their products.
Reason take_matrix_types(ModifierReader& reader, TypeSet factors, Instruction& i) {
  if (!reader.take_type(info(i.opcode).types, i.type) || !reader.take_type(factors, i.source_type)) return kUnsupported;
  const bool bytes = (bit(i.source_type) & kBytes) != 0;
  if (!reader.take_type(bytes ? kBytes : bit(i.source_type), i.second_type)) return kUnsupported;
  const TypeSet sums = sum_types(i.source_type);
  if ((sums & bit(i.type)) == 0 || !reader.take_type(sums, i.sum_type)) return kUnsupported;
  return kFine;
}

}  // namespace

Reason read_matrix_load(ModifierReader& reader, Instruction& i) {
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

// Reads mma.sync.aligned.shape.row.col{.satfinite}.d.a.b.c, where d and c have the same type.
Reason read_matrix_multiply(ModifierReader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(".aligned")) return kUnsupported;
  const TypeSet factors = take_shape(reader, kMatrixForms, i);
  if (!reader.take_in_order(".row", ".col")) return kUnsupported;
  i.satfinite = reader.take(".satfinite");
  if (const Reason reason = take_matrix_types(reader, factors, i)) return reason;
  if (i.type != i.sum_type) return kUnsupported;
  if (i.type == Type::f64 && reader.take(kRoundingNames, i.rounding) && i.rounding != Rounding::rn) return kUnsupported;
  return i.satfinite && i.type != Type::s32 ? kUnsupported : reader.finish();
}

// Reads wmma.mma.sync.aligned.{row,col}.{row,col}.shape.d{.a.b}.c{.satfinite}; the types of a and b are omitted for
// f16. {row,col}, the factors' layout in memory, is ignored: only the loads and stores of fragments depend on it.
Reason read_fragment_multiply(ModifierReader& reader, Instruction& i) {
  if (!reader.take(".sync") || !reader.take(".aligned")) return kUnsupported;
  if (!reader.take_any({".row", ".col"}) || !reader.take_any({".row", ".col"})) return kUnsupported;
  const TypeSet factors = take_shape(reader, kFragmentForms, i);
  ModifierReader unsaid = reader;
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

// Reads wmma.load.{a,b,c} or wmma.store.d: .sync.aligned.{row,col}.shape{.space}.type
Reason read_fragment(ModifierReader& reader, Instruction& i) {
  const bool is_store = info(i.opcode).form == Form::fragment_store;
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

}  // namespace roofwalk::ptx
