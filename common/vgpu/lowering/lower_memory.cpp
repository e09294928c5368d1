// Lowering of memory and synchronization: addresses, loads and stores, fragments, copies, atomics, barriers.
#include "common/vgpu/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/vgpu/exec/turns.h"
#include "common/vgpu/lowering/analysis/guesses.h"
#include "common/vgpu/lowering/analysis/loop_ends.h"
#include "common/vgpu/lowering/analysis/peeks.h"
#include "common/vgpu/lowering/analysis/polling.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool Lowering::set_address(const Operand& address, Op& op) {
  op.offset = address.offset;
  op.count = 8;
  op.s[4] = kNoSlot;
  if (address.index >= 0) {
    op.s[4] = slots_.of_register(address.index);
    op.count = static_cast<std::uint32_t>(ptx::size_bytes(function_.registers[address.index].type));
  } else if (!address.symbol.empty()) {
    if (frame_of(address.symbol) != nullptr) return set_frame_address(address, op);
    op.offset += static_cast<std::int64_t>(symbol_value(address.symbol));
    if (op.instruction->space == Space::generic && address.space == Space::shared) op.offset += kSharedWindow;
    if (op.instruction->space == Space::generic && address.space == Space::local) op.offset += kLocalWindow;
  }
  return op.count == 4 || op.count == 8;
}

bool Lowering::set_frame_address(const Operand& address, Op& op) {
  Op make = op;
  make.s.fill(kNoSlot);
  make.s[0] = slots_.new_register(8);
  make.offset = static_cast<std::int64_t>(symbol_value(address.symbol));
  if (op.instruction->space == Space::generic) make.offset += kLocalWindow;
  // This operation gets no guard: the access that follows has one and counts the masked-off lanes.
  make.run = op_frame_address;
  program_.ops.push_back(make);
  op.s[4] = make.s[0];
  return true;
}

bool Lowering::is_kernel_parameter(const Operand& address) const {
  return address.index < 0 && parameter_numbers_.contains(address.symbol);
}

Status Lowering::lower_memory(const Instruction& in, Op op) {
  const bool store = ptx::info(in.opcode).form == ptx::Form::store;
  const Operand& address = in.operands[store ? 0 : 1];
  const Operand& data = in.operands[store ? 1 : 0];
  const std::vector<Operand> one{data};
  const std::vector<Operand>& parts = data.kind == Operand::Kind::vector ? data.elements : one;
  if (in.space == Space::param && is_kernel_parameter(address)) return lower_parameter(in, op, address, parts);
  if (in.space == Space::param && address.index >= 0) return unsupported(in, "through a register");
  std::uint32_t bytes = static_cast<std::uint32_t>(std::max(ptx::size_bytes(in.type), 2));
  for (const Operand& part : parts) {
    if (part.kind == Operand::Kind::reg) bytes = register_bytes(part, in.type);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    op.s[i] = store ? source(parts[i], bytes) : result(parts[i]);
    if (store && op.s[i] == kNoSlot) return unsupported(in, "with this operand");
  }
  const Handler handler =
      store ? store_handler(in, static_cast<int>(bytes)) : load_handler(in, static_cast<int>(bytes));
  if (!set_address(address, op) || handler == nullptr) return unsupported(in);
  op.past_l1 = passes_l1(in) || (!store && polls_plainly(op.pc, op.block));
  op.non_coherent = in.non_coherent;
  op.spins = !store && in.is_volatile && load_polls(op.pc);
  op.decides = !store && in.is_volatile && reaches_global(in) && !glances(op.pc, op.block);
  op.tells = op.spins || (!store && in.acquires && picks(op.pc));
  op.guesses = !store && !in.is_volatile && load_guesses(op.pc);
  op.peeks = !store && in.is_relaxed && load_peeks(op.pc);
  program_.polls_global |= op.spins && reaches_global(in);
  if (const auto held = speculation_.loads.find(op.pc); held != speculation_.loads.end()) {
    op.speculative = true;
    op.target = held->second.number;
    op.next_block = held->second.ways;
  }
  note_flag_reader(in, !store && in.is_volatile && decides_way(in, States::followed));
  emit(op, handler);
  return kOk;
}

std::int64_t Lowering::seed_of_ways(std::uint32_t block) {
  if (input_.turns_seed == 0) return 0;
  if (any_order_.empty()) any_order_ = find_ways_in_any_order(function_, program_.blocks);
  return any_order_[block] ? static_cast<std::int64_t>(input_.turns_seed) : 0;
}

bool Lowering::load_guesses(std::uint32_t pc) {
  if (!guesses_) guesses_ = find_guesses(function_, program_.blocks, uses_, linked_.parts);
  return !guesses_->empty() && (*guesses_)[pc];
}

bool Lowering::load_peeks(std::uint32_t pc) {
  if (!peeks_) peeks_ = find_peeks(function_, program_.blocks);
  return !peeks_->empty() && (*peeks_)[pc];
}

Status Lowering::lower_parameter(const Instruction& in, const Op& op, const Operand& address,
                                 const std::vector<Operand>& parts) {
  bool counted = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint32_t reg = register_bytes(parts[i], in.type);
    Op move = op;
    move.s[0] = result(parts[i]);
    move.s[1] = parameter(in, address, i, reg);
    if (move.s[1] == kNoSlot) {
      return Error{.message = fmt::format("PTX line {}: reads past the kernel's parameters", in.ptx_line)};
    }
    if (move.s[0] == kNoSlot) continue;
    emit(move, move_handler(static_cast<int>(reg)));
    // Only the first operation counts the lanes that the guard masks off.
    if (in.guard >= 0 && std::exchange(counted, true)) program_.ops.back().run = op_guard_again;
  }
  return kOk;
}

Slot Lowering::parameter(const Instruction& in, const Operand& address, std::size_t i, std::uint32_t register_bytes) {
  const std::size_t index = parameter_numbers_.at(address.symbol);
  const auto width = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  const std::int64_t at =
      static_cast<std::int64_t>(parameters_.offsets[index]) + address.offset + static_cast<std::int64_t>(i * width);
  if (at < 0 || static_cast<std::uint64_t>(at) + width > input_.arguments.size()) return kNoSlot;
  std::uint64_t bits = 0;
  std::memcpy(&bits, input_.arguments.data() + at, width);
  if (ptx::is_signed(in.type) && width < 8 && (bits >> (8 * width - 1) & 1u) != 0) bits |= ~0ull << (8 * width);
  return slots_.constant(register_bytes == 8 ? bits : bits & ((1ull << (8 * register_bytes)) - 1), register_bytes);
}

Status Lowering::lower_matrix_load(const Instruction& in, Op op) {
  const std::vector<Operand>& parts = in.operands[0].elements;
  for (std::size_t i = 0; i < parts.size(); ++i) op.s[i] = result(parts[i]);
  if (!set_address(in.operands[1], op)) return unsupported(in);
  return emit_ok(op, matrix_load_handler(in));
}

Status Lowering::lower_matrix_multiply(const Instruction& in, Op op) {
  op.offset = static_cast<std::int64_t>(program_.matrix_slots.size());
  for (std::size_t o = 0; o < in.operands.size(); ++o) {
    for (const Operand& element : in.operands[o].elements) {
      const Slot at = o == 0 ? result(element) : source(element, in.type == Type::f64 ? 8 : 4);
      if (o != 0 && at == kNoSlot) return unsupported(in, "with this operand");
      program_.matrix_slots.push_back(at);
    }
  }
  return emit_ok(op, matrix_multiply_handler(in));
}

Status Lowering::lower_fragment(const Instruction& in, Op op) {
  const bool store = ptx::info(in.opcode).form == ptx::Form::fragment_store;
  op.target = static_cast<std::uint32_t>(program_.matrix_slots.size());
  const auto bytes = static_cast<std::uint32_t>(std::max(ptx::size_bytes(in.type), 4));
  for (const Operand& element : in.operands[store ? 1 : 0].elements) {
    program_.matrix_slots.push_back(store ? source(element, bytes) : result(element));
    if (store && program_.matrix_slots.back() == kNoSlot) return unsupported(in, "with this operand");
  }
  if (in.operands.size() > 2) op.s[5] = source(in.operands[2], 4);
  if (!set_address(in.operands[store ? 0 : 1], op)) return unsupported(in);
  return emit_ok(op, fragment_handler(in));
}

Status Lowering::lower_async_copy(const Instruction& in, Op op) {
  if (!set_address(in.operands[0], op)) return unsupported(in);
  const Slot to = op.s[4];
  const std::uint32_t width = op.count;
  const auto offset = static_cast<std::int32_t>(op.offset);
  if (offset != op.offset || !set_address(in.operands[1], op)) return unsupported(in, "with this address");
  op.s[5] = to;
  op.count = width;
  op.target = static_cast<std::uint32_t>(offset);
  if (in.operands.size() > (in.has_policy ? 4u : 3u)) {
    op.s[0] = source(in.operands[3], in.may_ignore ? 0 : 4);
    if (op.s[0] == kNoSlot) return unsupported(in, "with this operand");
  }
  op.past_l1 = polls_plainly(op.pc, op.block);
  return emit_ok(op, async_copy_handler(in));
}

Status Lowering::lower_async_group(const Instruction& in, Op op) {
  if (in.async == ptx::AsyncMode::mbarrier_arrive) {
    if (!set_address(in.operands[0], op)) return unsupported(in);
    return emit_ok(op, mbarrier_arrive_of_copies_handler());
  }
  if (in.async == ptx::AsyncMode::wait_group) op.offset = static_cast<std::int64_t>(in.operands.at(0).bits);
  return emit_ok(op, async_group_handler(in));
}

bool Lowering::is_read(const Operand& result) {
  if (read_.empty()) {
    read_.resize(function_.registers.size());
    for (const Instruction& in : function_.instructions)
      for_each_source(in, [&](int reg) { read_[static_cast<std::size_t>(reg)] = true; });
  }
  bool any = false;
  for_each_register(result, [&](int reg) { any = any || read_[static_cast<std::size_t>(reg)]; });
  return any;
}

Status Lowering::lower_atomic(const Instruction& in, Op op) {
  const bool reduction = ptx::info(in.opcode).form == ptx::Form::reduction;
  const std::size_t first = reduction ? 0 : 1;
  const auto bytes = static_cast<std::uint32_t>(ptx::size_bytes(in.type));
  // nvcc gives an exchange a result that nothing reads where its source ignores the old value.
  if (!reduction && is_read(in.operands[0])) op.s[0] = result(in.operands[0]);
  op.s[1] = source(in.operands[first + 1], bytes);
  if (in.atomic == ptx::AtomicOp::cas) op.s[2] = source(in.operands[first + 2], bytes);
  op.decides = !reduction && decides_way(in, States::followed);
  op.spins = op.decides && is_in_polling_loop(op.block);
  op.tells = op.decides || (!reduction && picks(op.pc));
  op.ends_loops = op.decides && reaches_global(in) && (ends_loops(op.pc) || is_rung(op.pc));
  program_.has_block_atomics |= in.of_block && reaches_global(in);
  program_.polls_global |= op.spins && reaches_global(in);
  program_.looks_at_global |= op.ends_loops && may_look(in);
  note_flag_reader(in, op.decides);
  const Handler handler = atomic_handler(in);
  if (!set_address(in.operands[first], op) || handler == nullptr || op.s[1] == kNoSlot) return unsupported(in);
  emit(op, handler);
  emit_hold(op, bytes);
  return kOk;
}

// Behind what may take a lock.
void Lowering::emit_hold(const Op& swap, std::uint32_t bytes) {
  const ptx::AtomicOp how = swap.instruction->atomic;
  const bool swaps = how == ptx::AtomicOp::cas || how == ptx::AtomicOp::exch;
  if (input_.turns_seed == 0 || !swaps || !swap.decides || swap.s[0] == kNoSlot || bytes < 4 || bytes > 8) return;
  Op op;
  op.run = op_may_hold;
  op.s[0] = swap.s[0], op.s[1] = swap.s[1];
  op.pc = swap.pc;
  op.block = swap.block;
  op.offset = static_cast<std::int64_t>(input_.turns_seed);
  op.count = bytes;
  op.target = how == ptx::AtomicOp::cas ? 1 : 0;
  program_.ops.push_back(op);
}

Status Lowering::lower_barrier(const Instruction& in, Op op) {
  if (in.barrier == ptx::BarrierMode::warp_sync) {
    op.s[0] = source(in.operands[0], 4);
    return op.s[0] == kNoSlot ? unsupported(in, "with this operand") : emit_ok(op, op_meet_in_warp);
  }
  const bool reduces = result_count(in) != 0;
  std::size_t next = 0;
  if (reduces) op.s[3] = result(in.operands[next++]);
  const Operand& number = in.operands[next++];
  if (number.kind == Operand::Kind::immediate) {
    op.offset = static_cast<std::int64_t>(number.bits);
  } else {
    op.s[1] = source(number, 4);
  }
  if (next + (reduces ? 1 : 0) < in.operands.size()) op.s[0] = source(in.operands[next++], 4);
  if (reduces) {
    op.s[2] = source(in.operands[next], 0);
    op.count = in.operands[next].negated ? 1 : 0;
  }
  // An immediate barrier number is below 16 (validate.h).
  const bool only_waits = in.barrier == ptx::BarrierMode::sync && in.guard < 0;
  if (only_waits && in.unaligned) return emit_ok(op, op_unaligned_barrier);
  const bool of_block = only_waits && op.s[0] == kNoSlot && op.s[1] == kNoSlot;
  return emit_ok(op, of_block ? op_block_barrier : op_barrier);
}

Status Lowering::lower_mbarrier(const Instruction& in, Op op) {
  using ptx::MbarrierMode;
  const bool no_result = in.mbarrier == MbarrierMode::init || in.mbarrier == MbarrierMode::inval;
  std::size_t next = 0;
  if (!no_result) op.s[0] = result(in.operands[next++]);
  if (in.mbarrier != MbarrierMode::pending_count && !set_address(in.operands[next++], op)) return unsupported(in);
  if (next < in.operands.size()) {
    const bool state = in.mbarrier == MbarrierMode::pending_count || in.mbarrier == MbarrierMode::test_wait ||
                       in.mbarrier == MbarrierMode::try_wait;
    op.s[1] = source(in.operands[next], state && !in.parity ? 8 : 4);
    if (op.s[1] == kNoSlot) return unsupported(in, "with this operand");
  }
  op.decides = !no_result && decides_way(in, States::left_out);
  program_.reads_flags |= op.decides;
  return emit_ok(op, mbarrier_handler(in));
}
}  // namespace roofwalk::vgpu
