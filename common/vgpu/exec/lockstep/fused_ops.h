// Handlers that execute several operations of lockstep code at once: runs of fma, and fma of two loaded words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/vgpu/exec/lockstep/lockstep.h"

namespace roofwalk::vgpu {

inline constexpr std::uint32_t kWordBytes = sizeof(float);
inline constexpr std::size_t kEight = 8, kEights = kWarpSize / kEight;
inline constexpr std::size_t kMostProducts = 16;  // limit for one run of products of global memory

// The words that a lockstep load of global memory reads: one for all lanes, adjacent ones, or one from each of 32 rows.
enum class Words { same, row, rows };
// What a product handler executes: one product, or a run of products, in vectors of eight lanes or as wide as the
// host's.
enum class Products { one, by_eights, wide };

// Executes two ld.shared and the fma of the two words. Each group of eight lanes loads one word, or adjacent words.
Handler product_handler(const LaneOffsets& left, const LaneOffsets& right, Products products);
// Executes a run of products, each of them two ld.global and the fma of the two words: op->target operations in all, or
// fewer if a load does not take the fast path.
Handler global_product_handler(Words left, Words right);
// Executes op->count operations, all of them fma.
Handler fma_run_handler();
// Executes op->target integer additions of op->count bytes each, on lane 0.
Handler addition_run_handler();

// For offsets with a constant stride in each group of eight lanes: whether that stride also holds within each vector of
// the host.
bool are_even_wide(const LaneOffsets& offsets);

}  // namespace roofwalk::vgpu
