// ldmatrix and mma: a warp's 32 threads hold shares of small matrices. Layouts as in the PTX ISA, sections "ldmatrix"
// and "Matrix Fragments for mma.m16n8k4, k8 and k16"; there, thread l belongs to group l / 4 and is number l % 4 in it.
#include <bit>
#include <cstring>

#include "common/vgpu/access.h"
#include "common/vgpu/half.h"
#include "common/vgpu/handlers.h"
#include "common/vgpu/lanes.h"
#include "common/vgpu/members.h"
#include "common/vgpu/near_memory.h"
#include "common/vgpu/shared_shadow.h"

namespace roofwalk::vgpu {
namespace {

// Eight rows of 16 bytes a matrix; thread 8i + r names row r of matrix i. A matrix is one turn of 128 bytes where its
// rows lie in different banks, as a quarter warp that reads 16 bytes a thread.
template <int matrices, bool transposed>
const Op* op_load_matrix(Launch& launch, Warp& warp, const Op* op) {
  if (!all_threads(launch, warp, op)) return nullptr;
  constexpr int kRows = 8;
  constexpr std::uint32_t kRowBytes = 16, kNaming = matrices == 4 ? kAllLanes : (1u << (kRows * matrices)) - 1;
  Access rows;
  make_access(warp, kNaming, op->s[4], op->offset, op->count == 8, kRowBytes, rows);
  rows.spell_out();
  Pointers at;
  if (!resolve_shared(launch, warp, op, rows, "reads", at)) return nullptr;
  count_shared(launch, warp, op, rows, SharedUse::rows);
  if (!check_shared(launch, warp, op, rows, SharedTouch::read)) return nullptr;
  for (int m = 0; m < matrices; ++m) {
    std::uint32_t* const d = warp.lanes<std::uint32_t>(op->s[m]);
    std::uint16_t matrix[kRows][kRows];
    for (int r = 0; r < kRows; ++r) std::memcpy(matrix[r], at.of(rows, kRows * m + r), kRowBytes);
    for (int l = 0; l < kWarpSize; ++l) {
      const int group = l / 4, first = l % 4 * 2;
      const std::uint32_t low = transposed ? matrix[first][group] : matrix[group][first];
      const std::uint32_t high = transposed ? matrix[first + 1][group] : matrix[group][first + 1];
      d[l] = high << 16 | low;
    }
  }
  return op + 1;
}

struct Tf32 {
  std::uint32_t bits;
};
// The low 13 bits are no part of the number.
inline float widen(Tf32 x) { return std::bit_cast<float>(x.bits & 0xffff'e000u); }

using Row = float __attribute__((vector_size(32)));  // the 8 columns of a product's row

// d = a * b + c: 16 x 8 sums over k. Each product of two factors is a float (exact but at the ends of float's range)
// and is added to c in the order of k, each sum rounded to nearest. Hardware adds several products at once and cuts off
// where we round; PTX leaves the order open.
template <class Factor, int k>
const Op* op_multiply_matrices(Launch& launch, Warp& warp, const Op* op) {
  if (!all_threads(launch, warp, op)) return nullptr;
  constexpr int kRows = 16, kColumns = 8, kGroups = 8;
  constexpr int kHeld = 4 / sizeof(Factor);  // factors of a register
  constexpr int kWide = 4 * kHeld;           // columns of a, or rows of b, that one register of all threads covers
  constexpr int kFactorsA = 2 * k / kWide, kFactorsB = k / kWide;
  const Slot* const slots = &launch.program.matrix_slots[static_cast<std::size_t>(op->offset)];
  const Slot *const slots_a = slots + 4, *const slots_b = slots_a + kFactorsA, *const slots_c = slots_b + kFactorsB;

  // Register i of a: rows `group` (+ 8 where i is odd), kWide columns from i / 2 * kWide.
  float a[kRows][k], b[k][kColumns];
  for (int i = 0; i < kFactorsA; ++i) {
    const Factor* const held = warp.lanes<Factor>(slots_a[i]);
    for (int group = 0; group < kGroups; ++group) {
      for (int x = 0; x < kWide; ++x) a[group + i % 2 * 8][i / 2 * kWide + x] = widen(held[group * kWide + x]);
    }
  }
  // Register i of b: column `group`, kWide rows from i * kWide.
  for (int i = 0; i < kFactorsB; ++i) {
    const Factor* const held = warp.lanes<Factor>(slots_b[i]);
    for (int group = 0; group < kGroups; ++group) {
      for (int x = 0; x < kWide; ++x) b[i * kWide + x][group] = widen(held[group * kWide + x]);
    }
  }
  // Registers 0 and 1 of c: two neighbours of row `group`; 2 and 3: of row `group` + 8.
  alignas(64) float sums[2][2 * kWarpSize];
  for (int half = 0; half < 2; ++half) {
    const float* const even = warp.lanes<float>(slots_c[2 * half]);
    const float* const uneven = warp.lanes<float>(slots_c[2 * half + 1]);
    for (int l = 0; l < kWarpSize; ++l) {
      sums[half][2 * l] = even[l];
      sums[half][2 * l + 1] = uneven[l];
    }
    Row row[8];
    std::memcpy(row, sums[half], sizeof row);
    for (int i = 0; i < k; ++i) {
      Row factors;
      std::memcpy(&factors, b[i], sizeof factors);
      for (int r = 0; r < 8; ++r) row[r] += a[half * 8 + r][i] * factors;
    }
    std::memcpy(sums[half], row, sizeof row);
  }
  for (int i = 0; i < 4; ++i) {
    if (slots[i] == kNoSlot) continue;
    const float* const sum = sums[i / 2] + i % 2;
    for_lanes(warp.lanes<float>(slots[i]), kAllLanes,
              [sum](int l) { return sum[2 * l] != sum[2 * l] ? canonical_nan() : sum[2 * l]; });
  }
  return op + 1;
}

template <bool transposed>
Handler load_handler_of(int matrices) {
  switch (matrices) {
    case 1:
      return op_load_matrix<1, transposed>;
    case 2:
      return op_load_matrix<2, transposed>;
    default:
      return op_load_matrix<4, transposed>;
  }
}

}  // namespace

Handler matrix_load_handler(const ptx::Instruction& in) {
  return in.transposed ? load_handler_of<true>(in.vector) : load_handler_of<false>(in.vector);
}

Handler matrix_multiply_handler(const ptx::Instruction& in) {
  const bool f32_sums = in.opcode == ptx::Opcode::Mma && in.type == ptx::Type::f32 && in.sum_type == in.type;
  if (!f32_sums) return fragment_multiply_handler(in);
  switch (in.source_type) {
    case ptx::Type::f16:
      return in.shape.k == 16 ? op_multiply_matrices<Half, 16> : op_multiply_matrices<Half, 8>;
    case ptx::Type::bf16:
      return in.shape.k == 16 ? op_multiply_matrices<BFloat, 16> : op_multiply_matrices<BFloat, 8>;
    default:
      return in.shape.k == 8 ? op_multiply_matrices<Tf32, 8> : op_multiply_matrices<Tf32, 4>;
  }
}

}  // namespace roofwalk::vgpu
