// Properties of single PTX instructions.
#pragma once

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// Loads, stores, copies, atomics and reductions of global, shared, local and generic memory, but not of parameters or
// constant memory.
bool is_memory(const ptx::Instruction& instruction);

// Whether it is a global load that bypasses L1: it is cached in L2 only (.cg, .cv, .L1::no_allocate), or must see
// what other SMs write (volatile, relaxed and acquire beyond block scope).
bool passes_l1(const ptx::Instruction& instruction);
// Whether an instruction accesses global memory, or may do so through a generic address.
inline bool reaches_global(const ptx::Instruction& in) {
  return in.space == ptx::Space::global || in.space == ptx::Space::generic;
}
// Fences and acquires beyond block scope, which invalidate L1 (CCTL.IVALL in machine code).
bool empties_l1(const ptx::Instruction& instruction);

// Whether it loads constant memory. If the address is in a register, the load is an instruction of its own in machine
// code (LDC, or ULDC if the address is uniform); a load from a fixed address becomes an operand of another
// instruction or a uniform register.
bool loads_constant(const ptx::Instruction& instruction);
bool loads_indexed_constant(const ptx::Instruction& instruction);
// Whether it is a barrier with its number or count in a register or with a guard, or an mbarrier arrive triggered by
// asynchronous copies. Only at run time is it known which barrier it reaches, and whether it does.
bool meets_by_value(const ptx::Instruction& instruction);
// Whether an instruction has an Outcome in traces: any of the three kinds above (memory, constant, run-time barrier).
inline bool leaves_outcome(const ptx::Instruction& in) {
  return is_memory(in) || loads_constant(in) || meets_by_value(in);
}

// Whether an instruction calls through a register. After linking, its second operand lists the first instruction of
// every possible callee.
inline bool calls_through_pointer(const ptx::Instruction& instruction) {
  return ptx::info(instruction.opcode).form == ptx::Form::call &&
         instruction.operands[0].kind == ptx::Operand::Kind::reg;
}

// Whether an instruction calls a function that was linked to the kernel; other calls go to externs.
inline bool calls_linked(const ptx::Instruction& instruction) {
  return calls_through_pointer(instruction) || (ptx::info(instruction.opcode).form == ptx::Form::call &&
                                                instruction.operands[0].kind == ptx::Operand::Kind::label);
}

// Whether the lanes of a warp may diverge at an instruction.
inline bool chooses_way(const ptx::Instruction& instruction) {
  const ptx::Form form = ptx::info(instruction.opcode).form;
  return form == ptx::Form::branch || form == ptx::Form::indexed_branch || calls_through_pointer(instruction);
}

// Whether an instruction is a block-wide barrier without a guard.
inline bool meets_block(const ptx::Instruction& instruction) {
  return ptx::info(instruction.opcode).form == ptx::Form::barrier &&
         instruction.barrier != ptx::BarrierMode::warp_sync && instruction.guard < 0;
}

// Whether an atomic on shared memory (if `shared`) or else on global memory is a compare-and-swap loop in machine
// code, which a lane repeats until its swap succeeds.
bool is_retried(const ptx::Instruction& in, bool shared);

}  // namespace roofwalk::vgpu
