// What single PTX instructions are to the machine.
#pragma once

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// Loads, stores, copies, atomics and reductions of global, shared, local and generic memory.
// Parameters and constant memory are not among them.
bool is_memory(const ptx::Instruction& instruction);

// A load of global memory that L1 does not answer: it is cached in L2 alone (.cg, .cv, .L1::no_allocate), or other SMs
// must see what it reads (volatile, relaxed and acquire, but for the scope of a block).
bool passes_l1(const ptx::Instruction& instruction);
// Whether it names global memory, or may mean it.
inline bool reaches_global(const ptx::Instruction& in) {
  return in.space == ptx::Space::global || in.space == ptx::Space::generic;
}
// What empties L1: fences and what acquires, but for the scope of a block (CCTL.IVALL in machine code).
bool empties_l1(const ptx::Instruction& instruction);

// A load of constant memory. Where a register holds its address, machine code has an instruction for it (LDC, or ULDC
// where it is the same for all threads); else it is an operand of another one, or a uniform register's.
bool loads_constant(const ptx::Instruction& instruction);
bool loads_indexed_constant(const ptx::Instruction& instruction);
// A barrier whose number or count stands in a register or that has a guard, and what arrives at an mbarrier when copies
// are there: only a run can tell which one it is, and whether.
bool meets_by_value(const ptx::Instruction& instruction);
// What traces keep outcomes of: all three kinds.
inline bool leaves_outcome(const ptx::Instruction& in) {
  return is_memory(in) || loads_constant(in) || meets_by_value(in);
}

// Whether an instruction calls what a register points to. Linked to the kernel, its second operand are the first
// instructions of all functions that this may be.
inline bool calls_through_pointer(const ptx::Instruction& instruction) {
  return ptx::info(instruction.opcode).form == ptx::Form::call &&
         instruction.operands[0].kind == ptx::Operand::Kind::reg;
}

// Whether an instruction calls functions that were linked to the kernel; others call externs.
inline bool calls_linked(const ptx::Instruction& instruction) {
  return calls_through_pointer(instruction) || (ptx::info(instruction.opcode).form == ptx::Form::call &&
                                                instruction.operands[0].kind == ptx::Operand::Kind::label);
}

// Whether lanes may go different ways behind it.
inline bool chooses_way(const ptx::Instruction& instruction) {
  const ptx::Form form = ptx::info(instruction.opcode).form;
  return form == ptx::Form::branch || form == ptx::Form::indexed_branch || calls_through_pointer(instruction);
}

// Whether an instruction meets other warps at a barrier of the block. Under a predicate: only if it lets all pass.
inline bool meets_block(const ptx::Instruction& instruction) {
  return ptx::info(instruction.opcode).form == ptx::Form::barrier &&
         instruction.barrier != ptx::BarrierMode::warp_sync && instruction.guard < 0;
}

// Whether an atomic is a loop around a compare-and-swap, which a lane goes through until no other has been faster: of
// shared memory, or of global memory.
bool is_retried(const ptx::Instruction& in, bool shared);

}  // namespace roofwalk::vgpu
