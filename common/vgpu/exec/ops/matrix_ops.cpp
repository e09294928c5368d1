// ldmatrix and mma: a warp's 32 threads hold shares of small matrices. Layouts are those of the PTX ISA, sections
// "ldmatrix" and "Matrix Fragments for mma.m16n8k4, k8 and k16"; in the latter, thread l is thread l % 4 of group l /
// 4.
#include <bit>
#include <cstring>
#include <type_traits>

#if defined(__F16C__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "common/vgpu/exec/ops/half.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/sanitizer/checked_access.h"

namespace roofwalk::vgpu {
namespace {

// Marks the registers of ldmatrix in which it has found values that nobody has written.
template <bool transposed>
void mark_unset_rows(const Launch& launch, Warp& warp, const Op* op, int matrices, const Access& rows) {
  const ptx::Operand& to = op->instruction->operands[0];
  for (int m = 0; m < matrices; ++m) {
    const int reg = to.elements.empty() ? to.index : to.elements[static_cast<std::size_t>(m)].index;
    if (reg < 0) continue;
    for (int l = 0; l < kWarpSize; ++l) {
      // The bits of the half at this place of a row.
      const auto half = [&](int row, int place) -> std::uint64_t {
        const std::uint64_t byte = rows.of(8 * m + row) + 2 * static_cast<std::uint64_t>(place);
        return warp.block->shadow->unset_bits(byte & ~3ull, 4) >> byte % 4 * 8 & 0xffff;
      };
      const int group = l / 4, first = l % 4 * 2;
      const std::uint64_t low = transposed ? half(first, group) : half(group, first);
      const std::uint64_t high = transposed ? half(first + 1, group) : half(group, first + 1);
      if ((low | high) == 0) continue;
      const auto lane = static_cast<std::uint8_t>(8 * m + (transposed ? first : group));  // that names the row
      unset_values(launch, warp)
          .registers[reg]
          .put(l, high << 16 | low,
               origin_of(rows, op, lane, UnsetOrigin::Where::shared, warp.block->shadow->is_written(rows.of(lane))));
    }
  }
}

// Each matrix has eight rows of 16 bytes; thread 8i + r holds the address of row r of matrix i. A matrix takes one
// wavefront of 128 bytes if its rows lie in different banks, like a quarter warp that reads 16 bytes per thread.
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
  if (!check_shared(launch, warp, op, rows, SharedTouch::read, {.carries = true})) return nullptr;
  for (int m = 0; m < matrices; ++m) {
    std::uint32_t* const d = warp.lanes<std::uint32_t>(op->s[m]);
    if constexpr (!transposed) {
      // Thread l gets word l % 4 of row l / 4, so storing the rows one after the other fills the register.
      for (int r = 0; r < kRows; ++r) std::memcpy(d + 4 * r, at.of(rows, kRows * m + r), kRowBytes);
    } else {
      std::uint16_t matrix[kRows][kRows];
      for (int r = 0; r < kRows; ++r) std::memcpy(matrix[r], at.of(rows, kRows * m + r), kRowBytes);
      for (int l = 0; l < kWarpSize; ++l) {
        const int group = l / 4, first = l % 4 * 2;
        d[l] = static_cast<std::uint32_t>(matrix[first + 1][group]) << 16 | matrix[first][group];
      }
    }
  }
  if (warp.block->shadow != nullptr && warp.block->shadow->take_unset()) {
    mark_unset_rows<transposed>(launch, warp, op, matrices, rows);
    return detour_if_unset(warp, op + 1);
  }
  return op + 1;
}

struct Tf32 {
  std::uint32_t bits;
};
// Drops the low 13 bits, which are not part of a tf32 number.
inline float widen(Tf32 x) { return std::bit_cast<float>(x.bits & 0xffff'e000u); }

using Row = float __attribute__((vector_size(32)));  // the 8 columns of a product's row

// Converts eight factors to float. The payload of a NaN does not matter: keep_sums() makes NaNs canonical.
template <class Factor>
inline Row widened(const Factor* factors) {
  Row out;
  for (int i = 0; i < 8; ++i) out[i] = widen(factors[i]);
  return out;
}
#ifdef __F16C__
template <>
inline Row widened(const Half* factors) {
  return reinterpret_cast<Row>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(factors))));
}
#endif

inline void transpose(Row (&m)[8]) {
  Row pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = __builtin_shufflevector(m[i], m[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(m[i], m[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      quads[i + 2 * j] = __builtin_shufflevector(pairs[i + j], pairs[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      quads[i + 2 * j + 1] = __builtin_shufflevector(pairs[i + j], pairs[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    m[i] = __builtin_shufflevector(quads[i], quads[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    m[i + 4] = __builtin_shufflevector(quads[i], quads[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

// Two rows, interleaved element by element. To multiply both by one row, that row is interleaved with itself.
using Rows = float __attribute__((vector_size(64)));
inline Rows both(Row first, Row second) {
  return __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
}

// The factors from two rows in the same column.
struct Factors {
  float first, second;
};

// Returns sum + factors * row. A product of halves is exact in float, so fused and separate rounding give the same.
template <class Factor>
inline Rows add_product(Rows sum, Factors factors, Rows row) {
  using Pairs = std::uint64_t __attribute__((vector_size(64)));
  const Rows all = reinterpret_cast<Rows>(Pairs{} + std::bit_cast<std::uint64_t>(factors));
#ifdef __AVX512F__
  if constexpr (std::is_same_v<Factor, Half>)
    return reinterpret_cast<Rows>(
        _mm512_fmadd_ps(reinterpret_cast<__m512>(all), reinterpret_cast<__m512>(row), reinterpret_cast<__m512>(sum)));
#endif
  return sum + all * row;
}

// Stores the sums of eight threads, in one of their registers, from `to` on.
inline void keep_sums(float* to, Row sums) {
  const Row nan = Row{} + canonical_nan();
  const Row kept = sums == sums ? sums : nan;
  std::memcpy(to, &kept, sizeof kept);
}

// Stores pairs of rows in the registers of d. Always inlined, so that the sums stay in host registers until they are
// stored.
[[gnu::always_inline]] inline void keep_all_sums(const Warp& warp, const Slot* slots, const Rows (&sums)[8]) {
  // Receives the sums that no result register takes.
  float nowhere[kWarpSize];
  float* d[4];
  for (int i = 0; i < 4; ++i) d[i] = slots[i] != kNoSlot ? warp.lanes<float>(slots[i]) : nowhere;
  // In a pair of rows, element 4 j is column 2 j of the first row, 4 j + 1 that of the second; 4 j + 2 and 4 j + 3 are
  // column 2 j + 1.
  for (int group = 0; group < 8; group += 2) {
    const Rows left = sums[group], right = sums[group + 1];
    keep_sums(d[0] + 4 * group, __builtin_shufflevector(left, right, 0, 4, 8, 12, 16, 20, 24, 28));
    keep_sums(d[1] + 4 * group, __builtin_shufflevector(left, right, 2, 6, 10, 14, 18, 22, 26, 30));
    keep_sums(d[2] + 4 * group, __builtin_shufflevector(left, right, 1, 5, 9, 13, 17, 21, 25, 29));
    keep_sums(d[3] + 4 * group, __builtin_shufflevector(left, right, 3, 7, 11, 15, 19, 23, 27, 31));
  }
}

// Computes d = a * b + c: 16 x 8 sums over k. Each product of two factors is a float (exact except at the ends of
// float's range) and is added to c in the order of k; each sum is rounded to nearest. Hardware adds several products at
// once and truncates where this code rounds; PTX leaves the order open.
template <class Factor, int k>
const Op* op_multiply_matrices(Launch& launch, Warp& warp, const Op* op) {
  if (!all_threads(launch, warp, op)) return nullptr;
  constexpr int kColumns = 8, kGroups = 8;
  constexpr int kHeld = 4 / sizeof(Factor);  // factors per register
  constexpr int kWide = 4 * kHeld;           // columns of a, or rows of b, in one register of all threads
  constexpr int kFactorsA = 2 * k / kWide, kFactorsB = k / kWide;
  const Slot* const slots = &launch.program.matrix_slots[static_cast<std::size_t>(op->offset)];
  const Slot *const slots_a = slots + 4, *const slots_b = slots_a + kFactorsA, *const slots_c = slots_b + kFactorsB;

  // Registers i and i + 1 of a hold rows `group` and `group` + 8, kWide columns each, from column i / 2 * kWide on.
  alignas(64) Factors a[kGroups][k];
  Rows b[k];
  for (int i = 0; i < kFactorsA; i += 2) {
    const Factor* const first = warp.lanes<Factor>(slots_a[i]);
    const Factor* const second = warp.lanes<Factor>(slots_a[i + 1]);
    for (int group = 0; group < kGroups; ++group) {
      Factors* const to = &a[group][i / 2 * kWide];
      if constexpr (kWide == 8) {
        const Rows rows = both(widened(first + group * kWide), widened(second + group * kWide));
        std::memcpy(to, &rows, sizeof rows);
      } else {
        for (int x = 0; x < kWide; ++x) to[x] = {widen(first[group * kWide + x]), widen(second[group * kWide + x])};
      }
    }
  }
  // Register i of b holds kWide rows of column `group`, from row i * kWide on.
  for (int i = 0; i < kFactorsB; ++i) {
    const Factor* const held = warp.lanes<Factor>(slots_b[i]);
    if constexpr (kWide == kColumns) {
      Row columns[kColumns];
      for (int group = 0; group < kGroups; ++group) columns[group] = widened(held + group * kWide);
      transpose(columns);
      for (int x = 0; x < kWide; ++x) b[i * kWide + x] = both(columns[x], columns[x]);
    } else {
      for (int group = 0; group < kGroups; ++group) {
        for (int x = 0; x < kWide; ++x) {
          b[i * kWide + x][2 * group] = b[i * kWide + x][2 * group + 1] = widen(held[group * kWide + x]);
        }
      }
    }
  }
  // Registers 0 and 1 of c hold two adjacent elements of row `group`, registers 2 and 3 those of row `group` + 8. Each
  // iteration reads eight threads' registers, which are two groups: it fills two pairs of rows.
  Rows sums[kGroups];
  const float* c[4];
  for (int i = 0; i < 4; ++i) c[i] = warp.lanes<float>(slots_c[i]);
  for (int group = 0; group < kGroups; group += 2) {
    Row held[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&held[i], c[i] + 4 * group, sizeof held[i]);
    sums[group] = both(__builtin_shufflevector(held[0], held[1], 0, 8, 1, 9, 2, 10, 3, 11),
                       __builtin_shufflevector(held[2], held[3], 0, 8, 1, 9, 2, 10, 3, 11));
    sums[group + 1] = both(__builtin_shufflevector(held[0], held[1], 4, 12, 5, 13, 6, 14, 7, 15),
                           __builtin_shufflevector(held[2], held[3], 4, 12, 5, 13, 6, 14, 7, 15));
  }
#pragma GCC unroll 4
  for (int i = 0; i < k; ++i) {
    for (int group = 0; group < kGroups; ++group) sums[group] = add_product<Factor>(sums[group], a[group][i], b[i]);
  }
  keep_all_sums(warp, slots, sums);
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
  const bool f32_sums = !ptx::has_trait(in, ptx::kOfFragments) && in.type == ptx::Type::f32 && in.sum_type == in.type;
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
