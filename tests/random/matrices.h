// Matrices distributed over a warp's threads: the position of each element and the products, as the PTX ISA defines
// them in "Matrix Fragments for mma.m16n8k8", "... k16", "... k32" and "ldmatrix". Shares no code with the virtual GPU.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace roofwalk::random {

// A product of 16 x k and k x 8 numbers, added to 16 x 8 sums.
struct MatrixShape {
  enum class Factor : std::uint8_t { f16, bf16, tf32, s8 };
  const char* text;
  Factor factor;
  int k;
  int a_registers, b_registers;  // per thread; the sums take four registers
  bool clamps;                   // .satfinite
  int operations() const { return 2 * 16 * 8 * k; }
};
inline constexpr MatrixShape kMatrixShapes[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", MatrixShape::Factor::f16, 16, 4, 2, false},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", MatrixShape::Factor::bf16, 16, 4, 2, false},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", MatrixShape::Factor::tf32, 8, 4, 2, false},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", MatrixShape::Factor::s8, 32, 4, 2, false},
    {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", MatrixShape::Factor::s8, 32, 4, 2, true},
};

using WarpRegister = std::array<std::uint64_t, 32>;  // one value per thread

// Returns the four registers of sums. The ISA does not define the order of additions, so callers pass numbers whose
// sums are exact in any order.
std::array<WarpRegister, 4> multiplied(const MatrixShape& shape, const std::vector<WarpRegister>& a,
                                       const std::vector<WarpRegister>& b, const std::vector<WarpRegister>& c);

// Returns the destination register of ldmatrix for one matrix, given the matrix's eight rows.
WarpRegister loaded(const std::array<std::array<std::uint16_t, 8>, 8>& rows, bool transposed);

}  // namespace roofwalk::random
