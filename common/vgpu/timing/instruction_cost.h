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

// Returns, by unit, the machine instructions that an instruction expands to for operands in the common range, if
// cost_of() cannot express them: quotients, roots, saturated, high and wide products, bit fields. Empty for all other
// instructions.
std::vector<Cost> expansion_of(const ptx::Instruction& in);

// Whether that expansion is a subroutine that is called for all operands.
bool is_subroutine(const ptx::Instruction& in);

TimedKind kind_of(const ptx::Instruction& in);

// Returns the multiply-adds of a matrix product, converted to multiply-adds of 16-bit factors that take as long: tensor
// cores process 32-bit factors at half the rate (A100 white paper: 312 TFLOP/s of FP16, 156 of TF32; H100 data sheet:
// 989 and 494).
double tensor_fmas(const ptx::Instruction& in);

// Returns how many committed groups of copies may stay in flight after the wait.
std::uint8_t groups_of(const ptx::Instruction& in);

// Returns the barrier number; 0 if a register holds it.
std::uint8_t barrier_of(const ptx::Instruction& in);

// Returns the number of threads that a barrier waits for, if it is an immediate. 0: the whole block, or unknown.
std::uint64_t threads_of(const ptx::Instruction& instruction);

}  // namespace roofwalk::vgpu
