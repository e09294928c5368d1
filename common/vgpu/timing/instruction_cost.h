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

// By unit, the machine instructions that an instruction expands to, if cost_of() cannot express them: quotients, roots,
// saturated, high and wide products, bit fields. For operands in the common range. Empty for all other instructions.
std::vector<Cost> expansion_of(const ptx::Instruction& in);

// Whether that expansion is a subroutine that is called for all operands.
bool is_subroutine(const ptx::Instruction& in);

TimedKind kind_of(const ptx::Instruction& in);

// Multiply-adds of a matrix product, in terms of 16-bit factors: tensor cores process 32-bit factors at half the rate
// (A100 white paper: 312 TFLOP/s of FP16, 156 of TF32; H100 data sheet: 989 and 494).
double tensor_fmas(const ptx::Instruction& in);

// How many committed groups of copies may stay in flight after the wait.
std::uint8_t groups_of(const ptx::Instruction& in);

// Barrier number; 0 if a register holds it.
std::uint8_t barrier_of(const ptx::Instruction& in);

// Number of threads that a barrier waits for, if it is an immediate. 0: the whole block, or unknown.
std::uint64_t threads_of(const ptx::Instruction& instruction);

}  // namespace roofwalk::vgpu
