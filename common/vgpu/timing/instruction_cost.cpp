#include "common/vgpu/timing/instruction_cost.h"

#include <algorithm>
#include <optional>

#include "common/vgpu/program/fragments.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

namespace {

bool is_wide(Type type) { return ptx::size_bytes(type) == 8; }

// PRMTs of a move that makes words of smaller parts, or the other way round: each part but the first of a word.
int packs_of(const Instruction& in) {
  for (const Operand& operand : in.operands) {
    if (operand.kind != Operand::Kind::vector || operand.elements.empty()) continue;
    const int parts = static_cast<int>(operand.elements.size()), words = std::max(ptx::size_bytes(in.type) / 4, 1);
    return std::max(parts - words, 0);
  }
  return 0;
}

}  // namespace

Cost cost_of(const Instruction& in) {
  const auto& info = ptx::info(in.opcode);
  const bool f32 = in.type == Type::f32, f64 = in.type == Type::f64;
  const bool half = in.type == Type::f16 || in.type == Type::f16x2 || in.type == Type::bf16 || in.type == Type::bf16x2;
  const int words = is_wide(in.type) ? 2 : 1;
  switch (info.form) {
    case Form::cache_policy:
      return {Unit::integer, 1};
    case Form::carry:  // IADD3.X; a product besides
      return in.opcode == Opcode::Madc ? Cost{Unit::multiply, words == 2 ? 5 : 2} : Cost{Unit::integer, words};
    case Form::move:
    case Form::cvta: {
      const Operand& from = in.operands.back();
      if (const int packs = packs_of(in); packs != 0) return {Unit::integer, packs};
      if (from.kind != Operand::Kind::special) return {Unit::integer, 0};
      const bool in_constant_bank =
          from.special == ptx::SpecialRegister::ntid || from.special == ptx::SpecialRegister::nctaid;
      return in_constant_bank ? Cost{Unit::integer, 0} : Cost{Unit::special, 1};
    }
    case Form::convert: {
      const bool to_float = ptx::is_float(in.type), from_float = ptx::is_float(in.source_type);
      if (f64 || in.source_type == Type::f64) return {Unit::fp64, 1};
      if (to_float != from_float) return {Unit::special, 1};
      if (to_float) return {f32 && in.source_type == Type::f16 ? Unit::half : Unit::integer, 1};
      const int to = ptx::size_bytes(in.type), from = ptx::size_bytes(in.source_type);
      const bool sign = in.source_type == Type::s32 || in.source_type == Type::s16 || in.source_type == Type::s8;
      return {Unit::integer, to > from ? (sign ? 1 : 0) : to >= 4 ? 0 : 1};
    }
    case Form::load:
      if (loads_indexed_constant(in)) return {Unit::constant, in.vector * ptx::size_bytes(in.type) > 8 ? 2 : 1};
      if (loads_constant(in)) return {Unit::integer, 0};  // an operand of what reads it
      [[fallthrough]];
    case Form::store:
    case Form::atomic:
    case Form::reduction:
    case Form::prefetch:
    case Form::shuffle:
    case Form::matrix_load:
      return {Unit::memory, in.space == Space::param ? 0 : 1};
    case Form::fragment_load:
    case Form::fragment_store:
      return {Unit::memory, fragment_accesses(in)};
    case Form::matrix_multiply:
      return {Unit::tensor, 1};
    case Form::async_copy:
      return {in.async == ptx::AsyncMode::copy ? Unit::memory : Unit::control, 1};
    case Form::indexed_branch:  // IMNMX, SHF, LDC of the way, SHF, BRX
      return {Unit::control, 5};
    case Form::call:  // through a pointer: BSSY, two words of the way back, CALL, BSYNC
      return {Unit::control, calls_through_pointer(in) ? 5 : 1};
    case Form::branch:
    case Form::leave:
    case Form::trap:
    case Form::fence:
    case Form::barrier:
    case Form::sleep:
      return {Unit::control, 1};
    case Form::mbarrier:
      return {Unit::memory, 1};
    case Form::warp_reduce:
    case Form::warp_match:
      return {Unit::special, 1};
    case Form::compare:
      return f64 ? Cost{Unit::fp64, 1} : Cost{Unit::integer, words};
    default:
      break;
  }
  if (half && info.pipe != ptx::Pipe::special) return {Unit::half, 1};
  switch (in.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
      return {f32 ? Unit::fp32 : f64 ? Unit::fp64 : Unit::integer, f64 ? 1 : words};
    case Opcode::Fma:
      return {f32 ? Unit::fp32 : Unit::fp64, 1};
    case Opcode::Dp2a:
    case Opcode::Dp4a:
    case Opcode::Mul24:
    case Opcode::Mad24:
    case Opcode::Mul:
    case Opcode::Mad:
      if (f32) return {Unit::fp32, 1};
      if (f64) return {Unit::fp64, 1};
      return {Unit::multiply, words == 2 ? 4 : 1};
    case Opcode::Abs:
    case Opcode::Neg:
      if (ptx::is_float(in.type)) return {Unit::fp32, 0};  // a modifier of what reads it
      return {Unit::integer, words};
    case Opcode::Div:
    case Opcode::Rem:
    case Opcode::Sqrt:
    case Opcode::Rcp:
      return {Unit::special, 1};
    default:
      if (info.pipe == ptx::Pipe::special) return {Unit::special, 1};
      return {Unit::integer, f64 ? 2 : words};
  }
}

namespace {

// Machine instructions by unit.
struct Counts {
  int special = 0, integer = 0, multiply = 0, fp32 = 0, fp64 = 0, control = 0, half = 0;
};

bool is_integer_division(const Instruction& in) {
  return ptx::info(in.opcode).form == Form::alu && (in.opcode == Opcode::Div || in.opcode == Opcode::Rem) &&
         !ptx::is_float(in.type);
}

// Towards zero, up or down.
bool rounds_one_way(const Instruction& in) {
  return in.rounding == ptx::Rounding::rz || in.rounding == ptx::Rounding::rp || in.rounding == ptx::Rounding::rm;
}

// 32 bits stand where they are needed, the others are a subroutine (__cuda_sm20_div_u64, with 68 instructions, and its
// like), which is called whatever the operands are: nvcc looks at them before, in PTX.
Counts counts_of_integer_division(const Instruction& in) {
  constexpr int kSizes = 3;  // 16, 32, 64 bits
  constexpr Counts kOfUnsigned[kSizes][2] = {{{3, 8, 4, 3, 0, 1}, {4, 9, 4, 3, 0, 1}},
                                             {{3, 9, 6, 0, 0, 0}, {3, 8, 6, 0, 0, 0}},
                                             {{3, 33, 31, 0, 0, 1}, {3, 30, 30, 0, 0, 1}}};
  constexpr Counts kOfSigned[kSizes][2] = {{{4, 11, 6, 3, 0, 1}, {4, 12, 8, 3, 0, 1}},
                                           {{3, 14, 7, 0, 0, 0}, {3, 12, 7, 0, 0, 0}},
                                           {{3, 43, 37, 0, 0, 1}, {3, 39, 35, 0, 0, 1}}};
  const bool sign = in.type == Type::s16 || in.type == Type::s32 || in.type == Type::s64;
  const int bytes = ptx::size_bytes(in.type), size = bytes <= 2 ? 0 : bytes == 4 ? 1 : 2;
  return (sign ? kOfSigned : kOfUnsigned)[size][in.opcode == Opcode::Rem];
}

// The way of usual operands: odd ones are a subroutine. Rounded one way, a quotient and what has 64 bits is a
// subroutine for all operands. Approximations are few instructions, with no branch among them.
std::optional<Counts> counts_of_float(const Instruction& in) {
  const bool f32 = in.type == Type::f32;
  if ((!f32 && in.type != Type::f64) || in.rounding == ptx::Rounding::approx || in.rounding == ptx::Rounding::full)
    return std::nullopt;
  const bool one_way = rounds_one_way(in);
  switch (in.opcode) {
    case Opcode::Div:
      if (f32) return one_way ? Counts{1, 10, 10, 6, 0, 7} : Counts{2, 0, 0, 5, 0, 3};
      return one_way ? Counts{1, 20, 9, 0, 11, 5} : Counts{1, 2, 1, 1, 8, 3};
    case Opcode::Rcp:
      if (f32) return Counts{1, 3, 0, 3, 0, 3};
      return one_way ? Counts{1, 13, 11, 0, 9, 7} : Counts{1, 2, 0, 0, 5, 3};
    case Opcode::Sqrt:
      if (f32) return one_way ? Counts{1, 2, 0, 8, 0, 5} : Counts{1, 2, 0, 4, 0, 3};
      return one_way ? Counts{3, 16, 5, 0, 11, 7} : Counts{1, 3, 1, 0, 8, 3};
    default:
      return std::nullopt;
  }
}

bool has_sign(Type type) { return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64; }

// Between integers: what a narrow one takes to stand alone in its register again, and clamps of what saturates.
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

// What is more than one instruction of one unit, or of another one than most. Conversions of doubles run where
// functions do, but for what only rounds or clamps.
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

// Of 16-bit floats: signs and what is flushed to zero are integer work; functions take one of a pair after the other.
std::optional<Counts> counts_of_half(const Instruction& in) {
  const bool pair = in.type == Type::f16x2 || in.type == Type::bf16x2;
  switch (in.opcode) {
    case Opcode::Ex2:
    case Opcode::Tanh:
      if (pair) return Counts{.special = 2, .integer = 1};
      return std::nullopt;
    case Opcode::Abs:
    case Opcode::Neg:
      if (pair && !in.ftz) return std::nullopt;
      return pair ? Counts{.integer = 3, .half = 2} : Counts{.integer = 1, .half = 1};
    default:
      return std::nullopt;
  }
}

// Of integers, and of the comparisons of doubles, what is more than its words.
std::optional<Counts> counts_of_integer(const Instruction& in) {
  if (in.type == Type::f64 && (in.opcode == Opcode::Min || in.opcode == Opcode::Max)) return Counts{0, 3, 4, 0, 1, 0};
  if (ptx::is_float(in.type)) return std::nullopt;
  const int bytes = ptx::size_bytes(in.type);
  const bool wide = bytes == 8, narrow = bytes == 2, high = in.mul == ptx::MulMode::hi, sign = has_sign(in.type);
  const auto is_number = [&](std::size_t i) {
    return i < in.operands.size() && in.operands[i].kind == Operand::Kind::immediate;
  };
  switch (in.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
      if (in.sat) return Counts{.integer = 4, .multiply = 1};
      if (narrow) return Counts{.integer = 1, .multiply = in.opcode == Opcode::Sub ? 2 : 1};
      break;
    case Opcode::Mul:
    case Opcode::Mad:
      if (in.sat) return Counts{.integer = 4, .multiply = 2};
      if (wide && high) {
        const int sum = in.opcode == Opcode::Mad ? 4 : 0;
        return sign ? Counts{.integer = 9 + sum, .multiply = 7} : Counts{.integer = 3 + sum, .multiply = 4};
      }
      if (high && in.opcode == Opcode::Mad) return Counts{.multiply = 2};
      break;
    case Opcode::Mul24:
      return Counts{.integer = high ? 3 : 2, .multiply = high ? 1 : 2};
    case Opcode::Mad24:
      if (in.sat) return Counts{.integer = 7, .multiply = 1};
      return Counts{.integer = high ? 3 : 2, .multiply = high ? 3 : 2};
    case Opcode::Sad:
      if (wide) return Counts{.integer = 7, .multiply = 3};
      return narrow ? Counts{.integer = 2, .multiply = 1} : Counts{.integer = 2};
    case Opcode::Min:
    case Opcode::Max:
      if (wide) return Counts{.integer = 4};
      break;
    case Opcode::Shl:
    case Opcode::Shr:  // by a number, ptxas needs fewer
      if (narrow && !is_number(2)) return Counts{.integer = sign ? 5 : 4};
      break;
    case Opcode::Bfe:
      if (is_number(2) && is_number(3)) {
        if (wide && sign) return Counts{.integer = 7};
        break;
      }
      return Counts{.integer = wide ? (sign ? 15 : 8) : 5};
    case Opcode::Bfi:
      if (is_number(3) && is_number(4)) {
        return wide ? Counts{.integer = 3, .multiply = 1} : Counts{.integer = 2, .multiply = 1};
      }
      return wide ? Counts{.integer = 12, .multiply = 1} : Counts{.integer = 6};
    case Opcode::Brev:
      if (wide) return Counts{.special = 2};
      break;
    case Opcode::Popc:
    case Opcode::Clz:
      if (wide) return Counts{.special = 2, .integer = 1};
      break;
    case Opcode::Bfind:
      if (wide) return Counts{.special = sign ? 3 : 2, .integer = in.shift_amount ? 5 : 3};
      break;
    default:
      break;
  }
  return std::nullopt;
}

// What sets a word compares and selects. 16 bits are alone in their registers first.
std::optional<Counts> counts_of_comparison(const Instruction& in) {
  const Form form = ptx::info(in.opcode).form;
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
    case Form::compare:
      return counts_of_comparison(in);
    case Form::alu:
      break;
    default:
      return std::nullopt;
  }
  if (is_integer_division(in)) return counts_of_integer_division(in);
  if ((ptx::bit(in.type) & ptx::kHalf) != 0 || in.type == Type::bf16 || in.type == Type::f16x2 ||
      in.type == Type::bf16x2)
    return counts_of_half(in);
  if (in.type == Type::f64 && in.opcode == Opcode::Rsqrt && !in.ftz) return Counts{1, 2, 4, 0, 5, 0};
  const auto counts = counts_of_float(in);
  return counts ? counts : counts_of_integer(in);
}

}  // namespace

bool is_subroutine(const Instruction& in) {
  if (is_integer_division(in)) return ptx::size_bytes(in.type) != 4;
  return counts_of_float(in) && rounds_one_way(in) && (in.opcode == Opcode::Div || in.type == Type::f64);
}

// Counted in what ptxas 13.0 makes of a kernel with one such instruction for sm_90 (nvdisasm 13.5); for sm_80 no figure
// differs by more than 3. It divides by a constant in the same way.
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

// Against f16 factors, from the dense peaks of the A100's data sheet (312 TFLOP/s f16 and bf16, 156 tf32, 624 TOP/s
// int8, 19.5 TFLOP/s f64 on tensor cores).
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

// As ptxas 13.0 compiles them for sm_80 and sm_90 (nvdisasm: ATOMS.CAST.SPIN, ATOMS.CAS and ATOMG.CAS within a loop).
std::uint8_t groups_of(const Instruction& in) {
  if (in.async == ptx::AsyncMode::wait_all) return kAllGroups;
  return static_cast<std::uint8_t>(std::min<std::uint64_t>(in.operands.at(0).bits, kAllGroups - 1));
}

std::uint64_t threads_of(const Instruction& in) {
  const std::size_t at = result_count(in) + 1;
  const bool reduces = result_count(in) != 0;  // its predicate comes last
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
