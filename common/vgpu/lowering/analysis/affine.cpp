#include "common/vgpu/lowering/analysis/affine.h"

#include <algorithm>
#include <cstring>

#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::MulMode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using Kind = Shape::Kind;

constexpr Shape kUnknown{}, kUniform{Kind::uniform, 0, 0}, kVarying{Kind::varying, 0, 0};
constexpr ptx::TypeSet kWholeNumbers = ptx::kB32 | ptx::kB64 | ptx::kU32 | ptx::kS32 | ptx::kU64 | ptx::kS64;

bool is_whole_number(Type type) { return (ptx::bit(type) & kWholeNumbers) != 0; }

std::uint64_t cut(std::uint64_t value, std::uint32_t bytes) {
  return bytes >= 8 ? value : value & ((1ull << (8 * bytes)) - 1);
}
std::uint64_t extend_sign(std::uint64_t value, std::uint32_t bytes) {
  return bytes == 4 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value))) : value;
}

Shape join(const Shape& a, const Shape& b) {
  if (a.kind == Kind::unknown) return b;
  if (b.kind == Kind::unknown || a == b) return a;
  if (a.is_uniform() && b.is_uniform()) return kUniform;
  return kVarying;
}

// Returns the shape of the result of a lane-wise operation that has no affine rule: uniform if all sources are.
Shape worst_of(std::initializer_list<Shape> sources) {
  bool unknown = false;
  for (const Shape& source : sources) {
    if (source.kind == Kind::varying || source.kind == Kind::affine) return kVarying;
    unknown |= source.kind == Kind::unknown;
  }
  return unknown ? kUnknown : kUniform;
}

}  // namespace

bool is_kernel_parameter(const Op& op) {
  return ptx::info(op.instruction->opcode).form == Form::load && op.instruction->space == Space::param && op.count == 0;
}

AffineAnalysis::AffineAnalysis(const Program& program)
    : program_(program), shapes_(program.function->registers.size()) {
  with_offsets({}, 8);  // makes entry 0 of lane_offsets_, all zero
  for (std::size_t r = 0; r < shapes_.size(); ++r) {
    if (!program.fixed_registers[r]) continue;
    const int bytes = ptx::size_bytes(program.function->registers[r].type);
    shapes_[r] = shape_of({}, program.register_slots[r], static_cast<std::uint32_t>(bytes));
  }
  find_readers();
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) ask_again(i);
  settle();
  // Registers without a definition may hold anything, and so may registers that depend on them.
  for (std::size_t r = 0; r < shapes_.size(); ++r) {
    if (shapes_[r].kind != Kind::unknown) continue;
    shapes_[r] = kVarying;
    ask_readers_again(r);
  }
  settle();
}

void AffineAnalysis::find_readers() {
  first_reader_.assign(shapes_.size() + 1, 0);
  const auto for_each_read = [&](auto&& visit) {
    for (std::uint32_t i = 0; i < program_.ops.size(); ++i) {
      if (program_.ops[i].instruction == nullptr) continue;
      for_each_source(*program_.ops[i].instruction, [&](int reg) { visit(static_cast<std::size_t>(reg), i); });
    }
  };
  for_each_read([&](std::size_t reg, std::uint32_t) { ++first_reader_[reg + 1]; });
  for (std::size_t r = 0; r < shapes_.size(); ++r) first_reader_[r + 1] += first_reader_[r];
  readers_.resize(first_reader_.back());
  std::vector<std::size_t> next(first_reader_.begin(), first_reader_.end() - 1);
  for_each_read([&](std::size_t reg, std::uint32_t op) { readers_[next[reg]++] = op; });
  is_asked_.assign(program_.ops.size(), false);
}

void AffineAnalysis::ask_again(std::uint32_t op) {
  if (is_asked_[op] || program_.ops[op].instruction == nullptr) return;
  is_asked_[op] = true;
  asked_.push_back(op);
}

void AffineAnalysis::ask_readers_again(std::size_t reg) {
  for (std::size_t i = first_reader_[reg]; i < first_reader_[reg + 1]; ++i) ask_again(readers_[i]);
}

// A register's shape is widened at most three times, so each operation is analysed only a few times per source.
void AffineAnalysis::settle() {
  while (!asked_.empty()) {
    const std::uint32_t op = asked_.front();
    asked_.pop_front();
    is_asked_[op] = false;
    apply(program_.ops[op]);
  }
}

// Shapes move only towards `varying`, so settle() ends.
void AffineAnalysis::widen(int reg, const Shape& shape) {
  Shape& own = shapes_[static_cast<std::size_t>(reg)];
  const Shape joined = join(own, shape);
  if (joined == own) return;
  own = joined;
  ask_readers_again(static_cast<std::size_t>(reg));
}

void AffineAnalysis::apply(const Op& op) {
  const Instruction& in = *op.instruction;
  Shape shape = effect_of(op).shape;
  // Lanes that a guard masks off keep the old value.
  if (in.guard >= 0) {
    const Kind guard = shapes_[static_cast<std::size_t>(in.guard)].kind;
    if (guard == Kind::varying) shape = kVarying;
    if (guard == Kind::unknown) shape = kUnknown;
  }
  for_each_result(in, [&](int reg) {
    // A vector load of parameters becomes one operation per element, and this operation writes only its own element.
    if (is_kernel_parameter(op) && program_.register_slots[static_cast<std::size_t>(reg)] != op.s[0]) return;
    widen(reg, shape);
  });
}

Effect AffineAnalysis::effect_of(const Op& op) const {
  const Instruction& in = *op.instruction;
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
      return alu(op);
    case Form::convert:
      return convert(op);
    case Form::move: {
      const Operand& from = in.operands[1];
      if (in.operands[0].kind != Operand::Kind::reg || from.kind == Operand::Kind::vector || op.s[1] == kNoSlot) break;
      const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
      if (from.kind == Operand::Kind::special && bytes != 4) break;
      if (in.type == Type::pred) return {.shape = shape_of(from, op.s[1], 0)};
      return {.shape = shape_of(from, op.s[1], bytes), .on_lane_0 = move_handler_of_lane_0(static_cast<int>(bytes))};
    }
    case Form::cvta: {
      const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
      Shape shape = shape_of(in.operands[1], op.s[1], bytes);
      if (shape.kind == Kind::constant) shape = kUniform;
      return {.shape = shape,
              .on_lane_0 = op.offset == 0 ? move_handler_of_lane_0(static_cast<int>(bytes))
                                          : add_offset_handler_of_lane_0(static_cast<int>(bytes))};
    }
    case Form::select:
      return select(op);
    case Form::compare:
      return compare(op);
    case Form::load:
      return load(op);
    default:
      break;
  }
  return {.shape = kVarying};
}

Shape AffineAnalysis::shape_of(const Operand& operand, Slot at, std::uint32_t bytes) const {
  if (operand.kind == Operand::Kind::reg) return shapes_[static_cast<std::size_t>(operand.index)];
  if (at == kNoSlot) return kVarying;
  const std::uint32_t offset = at & 0x3fff'ffffu;
  switch (static_cast<Base>(at >> 30)) {
    case Base::registers:  // ctaid or smid, written when a block starts
      return kUniform;
    case Base::constants: {
      std::uint64_t value = 0;
      std::memcpy(&value, &program_.constants[offset], std::max(bytes, 4u));
      return {Kind::constant, bytes == 0 ? value : cut(value, bytes), 0};
    }
    case Base::warp_constants:
      break;
  }
  // Thread indices are affine if their offsets are the same in all warps.
  const std::uint32_t stride = program_.warp_constant_bytes;
  std::array<std::uint64_t, kWarpSize> offsets{};
  for (std::size_t start = 0; start + stride <= program_.warp_constants.size(); start += stride) {
    std::uint32_t lanes[kWarpSize];
    std::memcpy(lanes, &program_.warp_constants[start + offset], sizeof lanes);
    for (int l = 0; l < kWarpSize; ++l) {
      const std::uint64_t step = extend_sign(lanes[l] - lanes[0], 4);
      if (start == 0) offsets[static_cast<std::size_t>(l)] = step;
      if (offsets[static_cast<std::size_t>(l)] != step) return kVarying;
    }
  }
  return with_offsets(offsets, 4);
}

Shape AffineAnalysis::with_offsets(const std::array<std::uint64_t, kWarpSize>& raw, std::uint32_t bytes) const {
  std::array<std::uint64_t, kWarpSize> offsets = raw;
  for (std::uint64_t& step : offsets) step = extend_sign(step, bytes);
  const auto [it, is_new] = numbers_of_offsets_.try_emplace(offsets, static_cast<std::uint32_t>(lane_offsets_.size()));
  if (is_new) lane_offsets_.push_back(make_lane_offsets(offsets));
  return it->second == 0 ? kUniform : Shape{Kind::affine, 0, it->second};
}

Shape AffineAnalysis::sum(const Shape& a, const Shape& b, bool negate_b, std::uint32_t bytes) const {
  if (a.kind == Kind::varying || b.kind == Kind::varying) return kVarying;
  if (a.kind == Kind::unknown || b.kind == Kind::unknown) return kUnknown;
  if (a.kind == Kind::constant && b.kind == Kind::constant)
    return {Kind::constant, cut(negate_b ? a.value - b.value : a.value + b.value, bytes), 0};
  std::array<std::uint64_t, kWarpSize> offsets;
  for (std::size_t l = 0; l < offsets.size(); ++l) {
    const std::uint64_t of_b = lane_offsets_[b.lane_offsets].of_lane[l];
    offsets[l] = lane_offsets_[a.lane_offsets].of_lane[l] + (negate_b ? 0 - of_b : of_b);
  }
  return with_offsets(offsets, bytes);
}

Shape AffineAnalysis::product(const Shape& a, const Shape& b, std::uint32_t bytes) const {
  if (a.kind == Kind::varying || b.kind == Kind::varying) return kVarying;
  if (a.kind == Kind::unknown || b.kind == Kind::unknown) return kUnknown;
  if (a.kind == Kind::constant && b.kind == Kind::constant) return {Kind::constant, cut(a.value * b.value, bytes), 0};
  if (a.kind != Kind::affine && b.kind != Kind::affine) return kUniform;
  const Shape& factor = a.kind == Kind::constant ? a : b;
  if (factor.kind != Kind::constant) return kVarying;
  std::array<std::uint64_t, kWarpSize> offsets =
      lane_offsets_[a.kind == Kind::constant ? b.lane_offsets : a.lane_offsets].of_lane;
  for (std::uint64_t& step : offsets) step *= factor.value;
  return with_offsets(offsets, bytes);
}

Effect AffineAnalysis::alu(const Op& op) const {
  const Instruction& in = *op.instruction;
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  const bool wide = in.mul == MulMode::wide;
  Shape sources[4] = {kUniform, kUniform, kUniform, kUniform};
  for (std::size_t i = 0; i + 1 < in.operands.size() && i < 4; ++i) {
    sources[i] = shape_of(in.operands[1 + i], op.s[1 + i],
                          static_cast<std::uint32_t>(ptx::size_bytes(ptx::type_of_source(in, i))));
  }
  if (in.type == Type::pred) return {.shape = worst_of({sources[0], sources[1]})};
  Effect out{.shape = worst_of({sources[0], sources[1], sources[2], sources[3]}),
             .on_lane_0 = alu_handler_of_lane_0(in)};
  if (!is_whole_number(in.type) || in.sat || in.mul == MulMode::hi) return out;
  const std::uint32_t result_bytes = wide ? 2 * bytes : bytes;
  if (wide) {
    for (int i = 0; i < 2; ++i) {
      Shape& source = sources[i];
      if (source.kind == Kind::constant && ptx::is_signed(in.type)) source.value = extend_sign(source.value, bytes);
      if (source.kind != Kind::affine) continue;
      out.checked = 1 + i;
      out.checked_signed = ptx::is_signed(in.type);
      out.checked_offsets = source.lane_offsets;
    }
  }
  if (ptx::has_trait(in, ptx::kMultiplies)) {
    out.shape = product(sources[0], sources[1], result_bytes);
    if (ptx::has_trait(in, ptx::kAdds)) out.shape = sum(out.shape, sources[2], false, result_bytes);
  } else if (ptx::has_trait(in, ptx::kAdds | ptx::kSubtracts)) {
    out.shape = sum(sources[0], sources[1], ptx::has_trait(in, ptx::kSubtracts), result_bytes);
  } else if (ptx::has_trait(in, ptx::kShiftsLeft)) {
    if (sources[1].kind == Kind::constant && sources[1].value < 8 * bytes)
      out.shape = product(sources[0], {Kind::constant, 1ull << sources[1].value, 0}, result_bytes);
    if (sources[1].kind == Kind::unknown) out.shape = kUnknown;
  }
  return out;
}

Effect AffineAnalysis::convert(const Op& op) const {
  const Instruction& in = *op.instruction;
  const auto bytes_of = [&](const Operand& operand, Type type) {
    return static_cast<std::uint32_t>(operand.kind == Operand::Kind::reg
                                          ? ptx::size_bytes(program_.function->registers[operand.index].type)
                                          : std::max(ptx::size_bytes(type), 2));
  };
  const std::uint32_t from = bytes_of(in.operands[1], in.source_type), to = bytes_of(in.operands[0], in.type);
  const Shape source = shape_of(in.operands[1], op.s[1], from);
  if (in.operands.size() > 2) return {.shape = worst_of({source, shape_of(in.operands[2], op.s[2], from)})};
  Effect out{.shape = worst_of({source}),
             .on_lane_0 = convert_handler_of_lane_0(in, static_cast<int>(to), static_cast<int>(from))};
  const bool plain = !in.sat && is_whole_number(in.type) && is_whole_number(in.source_type) &&
                     ptx::size_bytes(in.type) == static_cast<int>(to) &&
                     ptx::size_bytes(in.source_type) == static_cast<int>(from);
  if (!plain || source.kind == Kind::unknown || source.kind == Kind::varying) return out;
  if (source.kind == Kind::constant) {
    const bool extends = to > from && ptx::is_signed(in.source_type);
    out.shape = {Kind::constant, cut(extends ? extend_sign(source.value, from) : source.value, to), 0};
  } else if (source.kind == Kind::affine) {
    if (to > from) {
      out.checked = 1;
      out.checked_signed = ptx::is_signed(in.source_type);
      out.checked_offsets = source.lane_offsets;
    }
    out.shape = with_offsets(lane_offsets_[source.lane_offsets].of_lane, to);
  }
  return out;
}

Effect AffineAnalysis::select(const Op& op) const {
  const Instruction& in = *op.instruction;
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  // If the predicate is negated, lower_select() has swapped the slots of the two values. The order of the values'
  // shapes does not matter, because they are joined.
  const bool swapped = in.operands[3].negated;
  const Shape a = shape_of(in.operands[1], op.s[swapped ? 2 : 1], bytes);
  const Shape b = shape_of(in.operands[2], op.s[swapped ? 1 : 2], bytes);
  const Shape predicate = shape_of(in.operands[3], op.s[3], 0);
  Effect out{.shape = kVarying, .on_lane_0 = select_handler_of_lane_0(static_cast<int>(bytes))};
  if (a.kind == Kind::unknown || b.kind == Kind::unknown || predicate.kind == Kind::unknown) {
    out.shape = kUnknown;
  } else if (predicate.is_uniform()) {
    out.shape = join(a, b);
  }
  return out;
}

Effect AffineAnalysis::compare(const Op& op) const {
  const Instruction& in = *op.instruction;
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  Shape third = kUniform;
  if (in.bool_op != ptx::BoolOp::none) third = shape_of(in.operands[4], op.s[4], 0);
  return {
      .shape = worst_of({shape_of(in.operands[2], op.s[2], bytes), shape_of(in.operands[3], op.s[3], bytes), third}),
      .on_lane_0 = compare_handler_of_lane_0(in)};
}

Shape AffineAnalysis::address_shape(const Op& op) const {
  const Operand& address = op.instruction->operands[ptx::info(op.instruction->opcode).form == Form::store ? 0 : 1];
  return address.index >= 0 ? shapes_[static_cast<std::size_t>(address.index)] : kUniform;
}

Effect AffineAnalysis::load(const Op& op) const {
  const Instruction& in = *op.instruction;
  if (is_kernel_parameter(op)) {
    Effect out{.shape = kVarying};
    for_each_result(in, [&](int reg) {
      if (program_.register_slots[static_cast<std::size_t>(reg)] != op.s[0]) return;
      const int bytes = ptx::size_bytes(program_.function->registers[static_cast<std::size_t>(reg)].type);
      out = {.shape = shape_of({}, op.s[1], static_cast<std::uint32_t>(bytes)),
             .on_lane_0 = move_handler_of_lane_0(bytes)};
    });
    return out;
  }
  // Loads from a uniform address return one value, except in local memory, which each lane has for itself.
  if (in.space != Space::global && in.space != Space::shared && in.space != Space::constant) return {.shape = kVarying};
  return {.shape = worst_of({address_shape(op)})};
}

}  // namespace roofwalk::vgpu
