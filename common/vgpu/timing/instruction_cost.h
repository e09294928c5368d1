// Costs of single PTX instructions in the timing model: pipe, issue slots, kind and the numbers that the model needs.
#pragma once

#include <cstdint>
#include <vector>

#include "common/ptx/module.h"
#include "common/vgpu/timing/instruction_schedule.h"

namespace roofwalk::vgpu {

// Cost of an operation on hardware, as ptxas 13 expands it for sm_80 and sm_90.
struct Cost {
  Unit unit = Unit::integer;
  int issues = 1;  // 0: no machine instruction; the result is the source itself
};
Cost cost_of(const ptx::Instruction& in);

// Returns, by unit, the number of machine instructions that a PTX instruction expands to for usual operand values.
// Empty for instructions that cost_of() describes; not empty, for example, for quotients, roots, saturated sums, bit
// fields and some conversions.
std::vector<Cost> expansion_of(const ptx::Instruction& in);

// Whether the expansion always calls a subroutine, not only for unusual operand values.
bool is_subroutine(const ptx::Instruction& in);

TimedKind kind_of(const ptx::Instruction& in);

// Returns the number of multiply-adds of 16-bit factors that take as long as this matrix product. For example, tensor
// cores process 32-bit factors at half the rate of 16-bit ones, so each of their multiply-adds counts twice (A100 white
// paper: 312 TFLOP/s of FP16, 156 of TF32; H100 data sheet: 989 and 494).
double tensor_fmas(const ptx::Instruction& in);

// For a wait for asynchronous copies: returns how many committed groups may still be in flight after it.
std::uint8_t groups_of(const ptx::Instruction& in);

// Returns the barrier number; 0 if a register holds it.
std::uint8_t barrier_of(const ptx::Instruction& in);

// Returns the number of threads that a barrier waits for, if it is an immediate. 0: the whole block, or unknown.
std::uint64_t threads_of(const ptx::Instruction& instruction);

}  // namespace roofwalk::vgpu
