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
    if (reads_clock(in)) return true;
  }
  return false;
}

}  // namespace roofwalk::vgpu
