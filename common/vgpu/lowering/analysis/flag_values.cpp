#include "common/vgpu/lowering/analysis/flag_values.h"

#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

namespace {

// Whether a result tells a flag among its sources from its former value. Floating-point operations do not count: their
// sources are data.
bool carries_flag(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
      return !ptx::is_float(in.type) || ptx::info(in.opcode).flops == 0;
    case Form::carry:
    case Form::convert:
    case Form::cvta:
    case Form::move:
    case Form::select:
    case Form::compare:
    case Form::set:
    case Form::number_test:
    case Form::barrier:
    case Form::shuffle:
    case Form::vote:
    case Form::warp_reduce:
    case Form::warp_match:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool only_computes(const Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case Form::alu:
    case Form::carry:
    case Form::convert:
    case Form::move:
    case Form::select:
    case Form::compare:
    case Form::set:
    case Form::number_test:
      return true;
    default:
      return false;
  }
}

FlagValues::FlagValues(const ptx::Function& function)
    : function_(function), makers_(function.registers.size()), wanted_(function.registers.size()) {
  const auto& code = function.instructions;
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    for_each_result(code[pc], [&](int reg) { makers_[static_cast<std::size_t>(reg)].push_back(pc); });
    for (const Operand& operand : code[pc].call_results) returned_.insert(operand.symbol);
  }
}

void FlagValues::follow_sources(const Instruction& in) {
  for_each_source(in, [&](int reg) { want(reg); });
  follow();
}

void FlagValues::follow_operand(const Operand& operand) {
  for_each_register(operand, [&](int reg) { want(reg); });
  follow();
}

void FlagValues::follow_guard(const Instruction& in) {
  if (in.guard >= 0) want(in.guard);
  follow();
}

bool FlagValues::come_from(const Instruction& in) const {
  bool out = false;
  for_each_result(in, [&](int reg) { out = out || wanted_[static_cast<std::size_t>(reg)]; });
  return out;
}

void FlagValues::want(int reg) {
  if (wanted_[static_cast<std::size_t>(reg)]) return;
  wanted_[static_cast<std::size_t>(reg)] = true;
  ahead_.push_back(reg);
}

void FlagValues::follow() {
  while (!ahead_.empty()) {
    const auto reg = static_cast<std::size_t>(ahead_.back());
    ahead_.pop_back();
    for (const std::uint32_t pc : makers_[reg]) {
      const Instruction& in = function_.instructions[pc];
      if (carries_flag(in)) for_each_source(in, [&](int from) { want(from); });
      if (ptx::info(in.opcode).form == Form::load && in.space == Space::param) want_returned(in);
    }
  }
}

// All functions' results count as one value.
void FlagValues::want_returned(const Instruction& load) {
  if (returned_wanted_ || !returned_.contains(load.operands[1].symbol)) return;
  returned_wanted_ = true;
  for (const Instruction& in : function_.instructions) {
    if (ptx::info(in.opcode).form != Form::store || in.space != Space::param) continue;
    for_each_register(in.operands[1], [&](int reg) { want(reg); });
  }
}

}  // namespace roofwalk::vgpu
