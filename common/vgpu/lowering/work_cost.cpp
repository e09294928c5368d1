#include "common/vgpu/lowering/work_cost.h"

#include <algorithm>

#include "common/ptx/table/costs.h"
#include "common/vgpu/exec/ops/handlers.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Space;
using ptx::Type;

std::uint32_t work_of_access(const Instruction& in, const WorkMode& mode) {
  switch (in.space) {
    case Space::param:
    case Space::constant:
      return 4;
    case Space::local:
      return 40;
    case Space::shared:
      return mode.sanitized ? 40 : 24;
    default:
      return mode.counts && !mode.sanitized ? 16 : 40;
  }
}

std::uint32_t work_of_call(const Instruction& in) {
  const ptx::Operand::Kind callee = in.operands[0].kind;
  if (callee == ptx::Operand::Kind::reg) return 400;
  return callee == ptx::Operand::Kind::label ? 200 : 20;
}

bool is_bfloat(Type type) { return type == Type::bf16 || type == Type::bf16x2; }
bool is_narrow(Type type) { return is_bfloat(type) || type == Type::f16 || type == Type::f16x2; }
std::uint32_t elements_of(Type type) { return ptx::is_pair(type) ? 2 : 1; }

int bytes_of(const ptx::Operand& operand, Type type, const ptx::Function& function) {
  const bool is_register = operand.kind == ptx::Operand::Kind::reg;
  return ptx::size_bytes(is_register ? function.registers[operand.index].type : type);
}

std::uint32_t work_of_conversion(const Instruction& in, const ptx::Function& function) {
  const int result_bytes = bytes_of(in.operands[0], in.type, function);
  const int source_bytes = bytes_of(in.operands[1], in.source_type, function);
  if (converts_quickly(in, result_bytes, source_bytes)) return 1;
  if (ptx::is_pair(in.type)) return 100;
  if (is_narrow(in.type)) return 65;
  const bool of_integers = !ptx::is_float(in.type) && !ptx::is_float(in.source_type);
  return of_integers && !in.sat ? 15 : 45;
}

std::uint32_t work_of_access_of_one_lane(const Instruction& in, const WorkMode& mode) {
  const bool counts = mode.counts && !mode.sanitized;
  switch (in.space) {
    case Space::param:
    case Space::constant:
      return 4;
    case Space::local:
      return 8;
    case Space::shared:
      return mode.sanitized ? 8 : 6;
    default:
      if (in.is_volatile && !counts) return 10;
      return counts || ptx::info(in.opcode).form == Form::store ? 8 : 5;
  }
}

}  // namespace

std::uint32_t work_of_passing(std::uint64_t bytes) {
  constexpr std::uint64_t kFewBytes = 64, kMostBytes = 1 << 20, kByte = 5;
  return static_cast<std::uint32_t>(kByte * (std::clamp(bytes, kFewBytes, kMostBytes) - kFewBytes));
}

std::uint32_t work_of(const Instruction& in, const ptx::Function& function, const WorkMode& mode) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
      return ptx::work_of_arithmetic(in);
    case Form::convert:
      return work_of_conversion(in, function);
    case Form::carry:
      return 3;
    case Form::compare:
      if (is_narrow(in.type)) return 2 * elements_of(in.type);
      return in.type == Type::f64 ? 2 : 1;
    case Form::set:
      return is_narrow(in.source_type) ? 6 * elements_of(in.source_type) : 1;
    case Form::move:
      return reads_clock(in) ? 45 : 1;
    case Form::load:
    case Form::store:
      return work_of_access(in, mode);
    case Form::atomic:
    case Form::reduction:
      return mode.sanitized || !mode.counts ? 64 : 40;
    case Form::matrix_load:
      return mode.sanitized ? 200 : 60;
    case Form::matrix_multiply:
      return in.type == Type::f64 ? 60 : 600;
    case Form::fragment_load:
    case Form::fragment_store:
      return 300;
    case Form::async_copy:
      return in.async == ptx::AsyncMode::copy ? 80 : 10;
    case Form::mbarrier:
      return mode.sanitized ? 80 : 40;
    case Form::sleep:
      return 8;
    case Form::branch:
      return 3;
    case Form::indexed_branch:
      return 12;
    case Form::barrier:
      if (in.barrier == ptx::BarrierMode::warp_sync) return mode.sanitized ? 80 : 2;
      return mode.sanitized ? 16 : 6;
    case Form::call:
      return work_of_call(in);
    case Form::shuffle:
      return mode.sanitized ? 12 : 4;
    case Form::vote:
      return 25;
    case Form::warp_reduce:
      return mode.sanitized ? 24 : 12;
    case Form::warp_match:
      return 64;
    case Form::fence:  // it may empty L1
      return 20;
    case Form::space_query:
    case Form::prefetch:
      return 8;
    default:
      return 1;
  }
}

std::uint32_t work_of_one_lane(const Instruction& in, const ptx::Function& function, const WorkMode& mode) {
  switch (ptx::info(in.opcode).form) {
    case Form::load:
    case Form::store:
      return work_of_access_of_one_lane(in, mode);
    case Form::atomic:
    case Form::reduction:
      return 16;
    case Form::mbarrier:
      return mode.sanitized ? 24 : 16;
    default:
      return work_of(in, function, mode);
  }
}

}  // namespace roofwalk::vgpu
