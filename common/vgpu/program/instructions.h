// Properties of single PTX instructions.
#pragma once

#include <cstdint>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// Whether an instruction accesses global, shared, local or generic memory: loads, stores, copies, atomics, reductions,
// operations on mbarriers. Parameters and constant memory do not count.
bool is_memory(const ptx::Instruction& instruction);

// Whether an instruction is a global load that bypasses L1: it is cached in L2 only (.cg, .cv, .L1::no_allocate), or
// must see what other SMs write (volatile, relaxed and acquire beyond block scope).
bool passes_l1(const ptx::Instruction& instruction);
// Whether an instruction accesses global memory, or may do so through a generic address.
inline bool reaches_global(const ptx::Instruction& in) {
  return in.space == ptx::Space::global || in.space == ptx::Space::generic;
}
// Whether an instruction is a fence or an acquire beyond block scope, which invalidates L1 (CCTL.IVALL in machine
// code).
bool empties_l1(const ptx::Instruction& instruction);

// Whether an instruction loads constant memory; "indexed": from an address in a register. In machine code, an indexed
// load is an instruction of its own (LDC, or ULDC if the address is uniform), while a load from a fixed address becomes
// an operand of another instruction or a uniform register.
bool loads_constant(const ptx::Instruction& instruction);
bool loads_indexed_constant(const ptx::Instruction& instruction);
// Whether it is known only at run time which barrier an instruction reaches, if any: a barrier with a guard, or with
// its number or count in a register, or without .aligned, as a warp that comes to several of these at once arrives at
// the last one; and the arrival of asynchronous copies at an mbarrier (cp.async.mbarrier.arrive).
bool meets_by_value(const ptx::Instruction& instruction);
// Who may learn something from what an instruction writes (a table in instructions.cpp).
enum class Told : std::uint8_t {
  waiting,  // a warp that waits, for whatever
  blocks,   // a warp that waits for what other blocks write to global memory, in a run in which time counts
  others,   // a warp that looks before the one that writes does anything else
};
bool may_tell(const ptx::Instruction& in, Told whom);
inline bool sleeps(const ptx::Instruction& in) { return ptx::info(in.opcode).form == ptx::Form::sleep; }
inline constexpr std::uint32_t kMostSleepNs = 1'000'000;  // PTX ISA 9.0, nanosleep
// Whether an instruction reads a clock or a timer.
bool reads_clock(const ptx::Instruction& instruction);
// Whether an instruction has an Outcome in traces: is_memory(), loads_constant(), meets_by_value() or sleeps().
inline bool leaves_outcome(const ptx::Instruction& in) {
  return is_memory(in) || loads_constant(in) || meets_by_value(in) || sleeps(in);
}

// Whether an instruction calls through a register. After linking, its second operand lists the first instruction of
// every possible callee.
inline bool calls_through_pointer(const ptx::Instruction& instruction) {
  return ptx::info(instruction.opcode).form == ptx::Form::call &&
         instruction.operands[0].kind == ptx::Operand::Kind::reg;
}

// Whether an instruction calls a function that is linked to the kernel. All other calls go to externs.
inline bool calls_linked(const ptx::Instruction& instruction) {
  return calls_through_pointer(instruction) || (ptx::info(instruction.opcode).form == ptx::Form::call &&
                                                instruction.operands[0].kind == ptx::Operand::Kind::label);
}

// Whether an instruction is a branch or a call through a pointer, at which the lanes of a warp may diverge.
inline bool chooses_way(const ptx::Instruction& instruction) {
  const ptx::Form form = ptx::info(instruction.opcode).form;
  return form == ptx::Form::branch || form == ptx::Form::indexed_branch || calls_through_pointer(instruction);
}

// Whether an instruction is a barrier of the block, not of a warp, and has no guard.
inline bool meets_block(const ptx::Instruction& instruction) {
  return ptx::info(instruction.opcode).form == ptx::Form::barrier &&
         instruction.barrier != ptx::BarrierMode::warp_sync && instruction.guard < 0;
}

// Whether an atomic on shared memory (if `shared`) or else on global memory is a compare-and-swap loop in machine
// code, which a lane repeats until its swap succeeds.
bool is_retried(const ptx::Instruction& in, bool shared);

}  // namespace roofwalk::vgpu
