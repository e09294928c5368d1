// What single PTX instructions are to the clock: pipe and issue slots, kind, the counts that its model asks for.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/module.h"
#include "common/vgpu/timing/schedule.h"

namespace roofwalk::vgpu {

// What an operation costs on hardware, as ptxas 13 expands it for sm_80 and sm_90.
struct Cost {
  Unit unit = Unit::integer;
  int issues = 1;  // 0: it vanishes, its result is its source
};
Cost cost_of(const ptx::Instruction& in);

// The machine instructions that an instruction becomes, by unit, where that is more than cost_of() tells: quotients,
// roots, saturated, high and wide products, fields of bits. For usual operands. Nothing for any other instruction.
std::vector<Cost> expansion_of(const ptx::Instruction& in);

// Whether these are a subroutine that is called whatever the operands are.
bool is_subroutine(const ptx::Instruction& in);

TimedKind kind_of(const ptx::Instruction& in);

// Multiply-adds of a matrix product, as those of 16-bit factors: tensor cores take 32-bit ones at half their rate (A100
// white paper: 312 TFLOP/s of FP16, 156 of TF32; H100 data sheet: 989 and 494).
double tensor_fmas(const ptx::Instruction& in);

// How many committed copies may be left in flight.
std::uint8_t groups_of(const ptx::Instruction& in);

// The number of a barrier, 0 where a register holds it.
std::uint8_t barrier_of(const ptx::Instruction& in);

// Threads that a barrier waits for where that is a number; 0: all of the block, or nobody knows.
std::uint64_t threads_of(const ptx::Instruction& instruction);

}  // namespace roofwalk::vgpu
