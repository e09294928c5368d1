#include "common/vgpu/timing/instruction_cost.h"

#include <algorithm>
#include <optional>

#include "common/ptx/table/costs.h"
#include "common/vgpu/program/fragments.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

bool is_wide(Type type) { return ptx::size_bytes(type) == 8; }

// Returns the number of PRMT instructions for a move that packs parts into words or unpacks them: one per part, except
// for the first part of each word.
int packs_of(const Instruction& in) {
  for (const Operand& operand : in.operands) {
    if (operand.kind != Operand::Kind::vector || operand.elements.empty()) continue;
    const int parts = static_cast<int>(operand.elements.size()), words = std::max(ptx::size_bytes(in.type) / 4, 1);
    return std::max(parts - words, 0);
  }
  return 0;
}

Cost cost_of_load(const Instruction& in) {
  if (loads_indexed_constant(in)) return {Unit::constant, in.vector * ptx::size_bytes(in.type) > 8 ? 2 : 1};
  if (loads_constant(in)) return {Unit::integer, 0};  // an operand of the instruction that reads it
  return {Unit::memory, in.space == Space::param ? 0 : 1};
}

Cost cost_of_move(const Instruction& in) {
  const Operand& from = in.operands.back();
  if (const int packs = packs_of(in); packs != 0) return {Unit::integer, packs};
  if (from.kind != Operand::Kind::special) return {Unit::integer, 0};
  const bool in_constant_bank = from.special == ptx::SpecialRegister::ntid ||
                                from.special == ptx::SpecialRegister::nctaid ||
                                from.special == ptx::SpecialRegister::reserved_smem_end ||
                                from.special == ptx::SpecialRegister::reserved_smem_1 ||
                                from.special == ptx::SpecialRegister::grid_workspace_hi ||
                                from.special == ptx::SpecialRegister::grid_workspace_lo;
  return in_constant_bank ? Cost{Unit::integer, 0} : Cost{Unit::special, 1};
}

Cost cost_of_conversion(const Instruction& in) {
  const bool to_float = ptx::is_float(in.type), from_float = ptx::is_float(in.source_type);
  if (in.type == Type::f64 || in.source_type == Type::f64) return {Unit::fp64, 1};
  if (to_float != from_float) return {Unit::special, 1};
  if (to_float) return {in.type == Type::f32 && in.source_type == Type::f16 ? Unit::half : Unit::integer, 1};
  const int to = ptx::size_bytes(in.type), from = ptx::size_bytes(in.source_type);
  const bool sign = in.source_type == Type::s32 || in.source_type == Type::s16 || in.source_type == Type::s8;
  return {Unit::integer, to > from ? (sign ? 1 : 0) : to >= 4 ? 0 : 1};
}

// Returns the cost by the opcode table: one machine instruction on the unit that the table names; two for 64-bit
// integers, four for their products; none for the sign of a .f32 or .f64.
Cost cost_by_table(const Instruction& in) {
  const ptx::OpcodeInfo& info = ptx::info(in.opcode);
  if (info.cost == ptx::CostClass::sign && (in.type == Type::f32 || in.type == Type::f64)) return {Unit::fp32, 0};
  const Unit unit = ptx::unit_of(info.units, in.type);
  if (unit == Unit::integer) return {unit, is_wide(in.type) ? 2 : 1};
  if (unit == Unit::multiply) return {unit, is_wide(in.type) ? 4 : 1};
  return {unit, 1};
}

}  // namespace

Cost cost_of(const Instruction& in) {
  Cost cost = cost_by_table(in);
  switch (ptx::info(in.opcode).form) {
    case Form::cache_policy:
      return {Unit::integer, 1};
    case Form::carry:  // IADD3.X, plus a product
      cost.issues += ptx::has_trait(in, ptx::kMultiplies) ? 1 : 0;
      return cost;
    case Form::move:
    case Form::cvta:
      return cost_of_move(in);
    case Form::convert:
      return cost_of_conversion(in);
    case Form::load:
      return cost_of_load(in);
    case Form::store:
      return {Unit::memory, in.space == Space::param ? 0 : 1};
    case Form::fragment_load:
    case Form::fragment_store:
      return {Unit::memory, fragment_accesses(in)};
    case Form::async_copy:
      return {in.async == ptx::AsyncMode::copy ? Unit::memory : Unit::control, 1};
    case Form::indexed_branch:  // IMNMX, SHF, LDC of the target, SHF, BRX
      return {Unit::control, 5};
    case Form::call:  // through a pointer: BSSY, two words of the return address, CALL, BSYNC
      return {Unit::control, calls_through_pointer(in) ? 5 : 1};
    default:
      return cost;
  }
}

namespace {

using Counts = ptx::MachineInstructions;

bool has_sign(Type type) { return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64; }

// Counts the machine instructions of a conversion between integers: those that extend a narrow integer in its register,
// and those that clamp the value if it saturates.
std::optional<Counts> counts_between_integers(const Instruction& in) {
  const int to = ptx::size_bytes(in.type), from = ptx::size_bytes(in.source_type);
  const bool to_sign = has_sign(in.type), from_sign = has_sign(in.source_type);
  const bool holds_all = from_sign ? to_sign && to >= from : to > from || (to == from && !to_sign);
  if (in.sat && !holds_all) {
    const auto size = [](int bytes) { return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3; };
    constexpr int kClamps[4][4] = {{6, 5, 3, 4}, {6, 5, 3, 4}, {4, 2, 2, 3}, {9, 7, 6, 5}};  // from, to
    return Counts{.integer = kClamps[size(from)][size(to)]};
  }
  const bool from_byte = from == 1 && to > 1;
  if (to != 1 && !from_byte) return std::nullopt;
  const bool sign = to == 1 ? to_sign : from_sign;
  return Counts{.integer = (sign ? 2 : 1) + (to == 8 ? 1 : 0)};
}

// Counts the machine instructions of conversions that take several, or that use an unusual unit. Conversions from or to
// doubles use the special function unit, except those from double to double that do not round to an integer.
std::optional<Counts> counts_of_conversion(const Instruction& in) {
  const bool to_float = ptx::is_float(in.type), from_float = ptx::is_float(in.source_type);
  const bool f32 = in.type == Type::f32, f64 = in.type == Type::f64;
  const bool to_integer_value = in.rounding == ptx::Rounding::rni || in.rounding == ptx::Rounding::rzi ||
                                in.rounding == ptx::Rounding::rmi || in.rounding == ptx::Rounding::rpi;
  if (in.type == Type::tf32) return Counts{.integer = in.satfinite ? 4 : 2, .multiply = 1};
  if (!to_float && !from_float) return counts_between_integers(in);
  Counts out;
  const bool same = in.type == in.source_type;
  if (f64 || in.source_type == Type::f64) {
    out.special = same && !to_integer_value ? 0 : 1;
    if (f64 && in.sat) out.integer = out.multiply = 6, out.fp64 = 2;
    if (in.ftz) out.fp32 += 1, out.fp64 += f32 ? 1 : 0;
  } else if (to_float && from_float) {
    if (!to_integer_value && !in.sat) return std::nullopt;
    out.special = to_integer_value ? 1 : 0;
    if (!to_integer_value && in.source_type != in.type) (f32 ? out.half : out.integer) = 1;
  } else {
    return std::nullopt;
  }
  if (in.sat && to_float && !f64) (f32 ? out.fp32 : out.half) += 1;
  if (ptx::size_bytes(in.type) == 1) out.integer += has_sign(in.type) ? 2 : 1;
  return out;
}

// Counts the machine instructions of comparisons that take several: `set` is a comparison and a selection, and 16-bit
// integers must first be extended in their registers. Those of testp are counted as in costs.def.
std::optional<Counts> counts_of_comparison(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
  if (form == Form::number_test) {  // the sign is masked off; each bound takes an ISETP for 32 bits
    const bool normal = in.test == ptx::NumberTest::normal, subnormal = in.test == ptx::NumberTest::subnormal;
    const int bounds = normal ? 3 : subnormal ? 2 : 1;
    return Counts{.integer = 1 + bounds * ptx::size_bytes(in.type) / 4};
  }
  if (form == Form::set && in.source_type == Type::f32) return Counts{.integer = 2};
  if (form == Form::compare && ptx::size_bytes(in.type) == 2 && !ptx::is_float(in.type))
    return Counts{.integer = 2, .multiply = 1};
  return std::nullopt;
}

std::optional<Counts> counts_of(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::convert:
      return counts_of_conversion(in);
    case Form::set:
    case Form::number_test:
    case Form::compare:
      return counts_of_comparison(in);
    case Form::alu:
      if (const ptx::CostRow* const row = ptx::find_cost(in)) return row->instructions;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_subroutine(const Instruction& in) {
  if (ptx::info(in.opcode).form != Form::alu) return false;
  const ptx::CostRow* const row = ptx::find_cost(in);
  return row != nullptr && row->kind == ptx::CostRow::Kind::called;
}

std::vector<Cost> expansion_of(const Instruction& in) {
  const auto counts = counts_of(in);
  if (!counts) return {};
  std::vector<Cost> out;
  const auto add = [&](Unit unit, int issues) {
    if (issues != 0) out.push_back({unit, issues});
  };
  add(Unit::special, counts->special);
  add(Unit::integer, counts->integer);
  add(Unit::multiply, counts->multiply);
  add(Unit::fp32, counts->fp32);
  add(Unit::fp64, counts->fp64);
  add(Unit::control, counts->control);
  add(Unit::half, counts->half);
  return out;
}

TimedKind kind_of(const Instruction& in) {
  switch (in.async) {
    case ptx::AsyncMode::none:
      break;
    case ptx::AsyncMode::copy:
      return TimedKind::async_copy;
    case ptx::AsyncMode::commit_group:
      return TimedKind::async_commit;
    case ptx::AsyncMode::wait_group:
    case ptx::AsyncMode::wait_all:
      return TimedKind::async_wait;
    case ptx::AsyncMode::mbarrier_arrive:
      return TimedKind::async_commit;
  }
  switch (ptx::info(in.opcode).form) {
    case Form::matrix_load:
    case Form::fragment_load:
      return TimedKind::load;
    case Form::mbarrier:
      return in.mbarrier == ptx::MbarrierMode::pending_count ? TimedKind::compute : TimedKind::atomic;
    case Form::load:
      return loads_indexed_constant(in) ? TimedKind::load_constant
             : loads_constant(in)       ? TimedKind::compute
                                        : TimedKind::load;
    case Form::store:
      return in.space == Space::param ? TimedKind::compute : TimedKind::store;
    case Form::fragment_store:
      return TimedKind::store;
    case Form::atomic:
    case Form::reduction:
      return TimedKind::atomic;
    case Form::barrier:
      return in.barrier == ptx::BarrierMode::warp_sync ? TimedKind::compute : TimedKind::barrier;
    case Form::sleep:
      return TimedKind::sleep;
    case Form::branch:
    case Form::indexed_branch:
      return TimedKind::branch;
    case Form::leave:
    case Form::trap:
      return TimedKind::leave;
    default:
      return TimedKind::compute;
  }
}

// Returns the number of f16 FMAs that take as long as this matrix product, by the dense peaks in the A100's data sheet
// (312 TFLOP/s f16 and bf16, 156 tf32, 624 TOP/s int8, 19.5 TFLOP/s f64 on tensor cores).
double tensor_fmas(const Instruction& in) {
  const double fmas = in.shape.m * in.shape.n * in.shape.k;
  switch (in.source_type) {
    case Type::tf32:
      return fmas * 2;
    case Type::f64:
      return fmas * 16;
    case Type::s8:
    case Type::u8:
      return fmas / 2;
    default:
      return fmas;
  }
}

std::uint8_t groups_of(const Instruction& in) {
  if (in.async == ptx::AsyncMode::wait_all) return kAllGroups;
  return static_cast<std::uint8_t>(std::min<std::uint64_t>(in.operands.at(0).bits, kAllGroups - 1));
}

std::uint64_t threads_of(const Instruction& in) {
  const std::size_t at = result_count(in) + 1;
  const bool reduces = result_count(in) != 0;  // a reduction's last operand is its predicate
  if (in.operands.size() <= at + (reduces ? 1 : 0)) return 0;
  const Operand& count = in.operands[at];
  return count.kind == Operand::Kind::immediate ? count.bits : 0;
}

std::uint8_t barrier_of(const Instruction& in) {
  if (in.operands.size() <= result_count(in)) return 0;
  const Operand& number = in.operands[result_count(in)];
  return number.kind == Operand::Kind::immediate ? static_cast<std::uint8_t>(number.bits & 15) : 0;
}

}  // namespace roofwalk::vgpu
