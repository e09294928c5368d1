// Lowering of register instructions: arithmetic, conversions, moves, comparisons, exchanges between lanes.
#include "common/vgpu/lowering/lowering.h"

#include <fmt/format.h>

#include "common/vgpu/exec/ops/half.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

// Returns the value that `set` writes if its comparison holds: 1 for floats, all ones for integers.
std::int64_t true_bits(Type type) {
  switch (type) {
    case Type::f32:
      return 0x3f80'0000;
    case Type::f16:
      return Half::kOne;
    case Type::f16x2:
      return Half::kOne << 16 | Half::kOne;
    case Type::bf16:
      return BFloat::kOne;
    case Type::bf16x2:
      return BFloat::kOne << 16 | BFloat::kOne;
    default:
      return -1;
  }
}

}  // namespace

Status Lowering::lower_alu(const Instruction& in, Op op) {
  const std::size_t sources = in.operands.size() - 1;
  op.s[0] = result(in.operands[0]);
  for (std::size_t i = 0; i < sources; ++i) {
    const Operand& operand = in.operands[1 + i];
    op.s[1 + i] = source(operand, static_cast<std::uint32_t>(ptx::size_bytes(ptx::type_of_source(in, i))));
    if (op.s[1 + i] == kNoSlot) return unsupported(in, "with this operand");
    if (in.type == Type::pred && operand.negated) op.offset |= std::int64_t{1} << i;
  }
  const Handler handler = alu_handler(in);
  if (handler == nullptr || op.s[0] == kNoSlot) return unsupported(in);
  emit(op, handler);
  return kOk;
}

Status Lowering::lower_carry(const Instruction& in, Op op) {
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  op.s[0] = result(in.operands[0]);
  op.s[1] = result(in.operands[1]);
  const std::size_t sources = in.operands.size() - 2 - (in.carry_in ? 1 : 0);
  for (std::size_t i = 0; i < sources; ++i) {
    op.s[2 + i] = source(in.operands[2 + i], bytes);
    if (op.s[2 + i] == kNoSlot) return unsupported(in, "with this operand");
  }
  if (in.carry_in) op.s[5] = source(in.operands.back(), 0);
  return emit_ok(op, carry_handler(in));
}

Status Lowering::lower_convert(const Instruction& in, Op op) {
  const std::uint32_t from = register_bytes(in.operands[1], in.source_type);
  op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[1], from);
  if (in.operands.size() > 2) {
    op.s[2] = source(in.operands[2], from);
    if (op.s[2] == kNoSlot || register_bytes(in.operands[2], in.source_type) != from) {
      return unsupported(in, "with these operands");
    }
  }
  const Handler handler =
      convert_handler(in, static_cast<int>(register_bytes(in.operands[0], in.type)), static_cast<int>(from));
  if (handler == nullptr || op.s[0] == kNoSlot || op.s[1] == kNoSlot) {
    return unsupported(in, fmt::format("from .{}", ptx::type_name(in.source_type)));
  }
  emit(op, handler);
  return kOk;
}

Status Lowering::lower_move(const Instruction& in, Op op) {
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  const Operand& to = in.operands[0];
  const Operand& from = in.operands[1];
  Handler handler = nullptr;
  if (to.kind == Operand::Kind::vector) {
    const int parts = static_cast<int>(to.elements.size());
    for (int i = 0; i < parts; ++i) op.s[i] = result(to.elements[i]);
    op.s[parts] = source(from, bytes);
    handler = unpack_handler(parts, static_cast<int>(bytes) / parts);
  } else if (from.kind == Operand::Kind::vector) {
    const int parts = static_cast<int>(from.elements.size());
    op.s[0] = result(to);
    for (int i = 0; i < parts; ++i) {
      op.s[1 + i] = source(from.elements[i], bytes / static_cast<std::uint32_t>(parts));
      if (op.s[1 + i] == kNoSlot) return unsupported(in, "with this operand");
    }
    handler = pack_handler(parts, static_cast<int>(bytes) / parts);
  } else {
    op.s[0] = result(to);
    const Handler clock =
        from.kind == Operand::Kind::special ? clock_handler(from.special, static_cast<int>(bytes)) : nullptr;
    if (clock != nullptr) {
      handler = clock;
    } else {
      op.s[1] = source(from, bytes);
      handler = op.s[1] == kNoSlot ? nullptr : move_handler(static_cast<int>(bytes));
      if (from.kind == Operand::Kind::variable && program_.locals.contains(from.symbol)) {
        return lower_local_address(in, op, from);
      }
    }
  }
  if (handler == nullptr) return unsupported(in, "with this operand");
  emit(op, handler);
  return kOk;
}

Status Lowering::lower_local_address(const Instruction& in, Op op, const Operand& from) {
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  if (frame_of(from.symbol) != nullptr) {
    op.offset = static_cast<std::int64_t>(symbol_value(from.symbol)) + from.offset;
    op.count = bytes;
    return emit_ok(op, op_frame_address);
  }
  op.s[1] = slots_.constant(symbol_value(from.symbol) + static_cast<std::uint64_t>(from.offset), bytes);
  emit(op, move_handler(static_cast<int>(bytes)));
  return kOk;
}

Status Lowering::lower_cvta(const Instruction& in, Op op) {
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  std::uint64_t window = 0;
  if (in.space == Space::shared) window = kSharedWindow;
  if (in.space == Space::local) window = kLocalWindow;
  op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[1], bytes);
  op.offset = in.to ? -static_cast<std::int64_t>(window) : static_cast<std::int64_t>(window);
  const Handler handler =
      window == 0 ? move_handler(static_cast<int>(bytes)) : add_offset_handler(static_cast<int>(bytes));
  if (handler == nullptr || op.s[1] == kNoSlot || (window != 0 && bytes != 8)) return unsupported(in);
  emit(op, handler);
  return kOk;
}

Status Lowering::lower_select(const Instruction& in, Op op) {
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[1], bytes);
  op.s[2] = source(in.operands[2], bytes);
  op.s[3] = source(in.operands[3], 0);
  if (in.operands[3].negated) std::swap(op.s[1], op.s[2]);
  const Handler handler = select_handler(static_cast<int>(bytes));
  if (handler == nullptr || op.s[3] == kNoSlot) return unsupported(in, "with this operand");
  emit(op, handler);
  return kOk;
}

Status Lowering::lower_compare(const Instruction& in, Op op) {
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  op.s[0] = result(in.operands[0]);
  op.s[1] = result(in.operands[1]);
  op.s[2] = source(in.operands[2], bytes);
  op.s[3] = source(in.operands[3], bytes);
  if (in.bool_op != ptx::BoolOp::none) {
    op.s[4] = source(in.operands[4], 0);
    if (op.s[4] == kNoSlot) return unsupported(in, "with this operand");
    op.offset = in.operands[4].negated ? 1 : 0;
  }
  const Handler handler = compare_handler(in);
  if (handler == nullptr || op.s[2] == kNoSlot || op.s[3] == kNoSlot) return unsupported(in, "with this comparison");
  emit(op, handler);
  return kOk;
}

Status Lowering::lower_set(const Instruction& in, Op op) {
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.source_type));
  op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[1], bytes);
  op.s[2] = source(in.operands[2], bytes);
  op.offset = true_bits(in.type);
  const Handler handler = set_handler(in);
  if (handler == nullptr || op.s[0] == kNoSlot || op.s[1] == kNoSlot || op.s[2] == kNoSlot) return unsupported(in);
  emit(op, handler);
  return kOk;
}

Status Lowering::lower_number_test(const Instruction& in, Op op) {
  op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[1], static_cast<std::uint32_t>(ptx::size_bytes(in.type)));
  if (op.s[0] == kNoSlot || op.s[1] == kNoSlot) return unsupported(in);
  return emit_ok(op, number_test_handler(in));
}

Status Lowering::lower_exchange(const Instruction& in, Op op) {
  const bool match = ptx::info(in.opcode).form == Form::warp_match;
  const std::size_t results = match ? 2 : 1;
  for (std::size_t i = 0; i < results; ++i) op.s[i] = result(in.operands[i]);
  op.s[results] = source(in.operands[results], static_cast<std::uint32_t>(ptx::size_bytes(in.type)));
  op.s[results + 1] = source(in.operands[results + 1], 4);
  if (op.s[results] == kNoSlot || op.s[results + 1] == kNoSlot) return unsupported(in, "with this operand");
  return emit_ok(op, match ? warp_match_handler(in) : warp_reduce_handler(in));
}

Status Lowering::lower_shuffle(const Instruction& in, Op op) {
  op.s[0] = result(in.operands[0]);
  op.s[1] = result(in.operands[1]);
  for (int i = 0; i < 4; ++i) op.s[2 + i] = source(in.operands[2 + i], 4);
  emit(op, op_shuffle);
  return kOk;
}

Status Lowering::lower_vote(const Instruction& in, Op op) {
  op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[1], 0);
  op.offset = in.operands[1].negated ? 1 : 0;
  op.s[2] = source(in.operands[2], 4);
  if (op.s[0] == kNoSlot || op.s[1] == kNoSlot) return unsupported(in, "with this operand");
  emit(op, op_vote);
  return kOk;
}

}  // namespace roofwalk::vgpu
