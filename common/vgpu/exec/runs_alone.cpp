#include "common/vgpu/exec/runs_alone.h"

#include "common/vgpu/program/instructions.h"

namespace roofwalk::vgpu {

bool runs_alone(const Program& program) {
  for (const ptx::Instruction& in : program.function->instructions) {
    const bool reaches_others = in.space == ptx::Space::global || in.space == ptx::Space::generic;
    switch (ptx::info(in.opcode).form) {
      case ptx::Form::atomic:
      case ptx::Form::reduction:
        if (reaches_others) return true;
        break;
      case ptx::Form::load:
      case ptx::Form::store:
        if (reaches_others && in.is_volatile) return true;
        break;
      case ptx::Form::fence:
        return true;
      case ptx::Form::call:
        if (!calls_linked(in)) return true;
        break;
      default:
        break;
    }
    for (const ptx::Operand& operand : in.operands) {
      if (operand.kind != ptx::Operand::Kind::special) continue;
      if (operand.special == ptx::SpecialRegister::clock || operand.special == ptx::SpecialRegister::clock64 ||
          operand.special == ptx::SpecialRegister::clock_hi || operand.special == ptx::SpecialRegister::globaltimer ||
          operand.special == ptx::SpecialRegister::globaltimer_lo ||
          operand.special == ptx::SpecialRegister::globaltimer_hi)
        return true;
    }
  }
  return false;
}

}  // namespace roofwalk::vgpu
