// Handlers that execute several operations of lockstep code at once: runs of fma, and fma of two loaded words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/vgpu/exec/lockstep/lockstep.h"

namespace roofwalk::vgpu {

inline constexpr std::uint32_t kWordBytes = sizeof(float);
inline constexpr std::size_t kEight = 8, kEights = kWarpSize / kEight;
inline constexpr std::size_t kMostProducts = 16;  // limit for one run of products of global memory

// What a lockstep load of global memory reads: one word for all lanes, adjacent words, or a word of each of 32 rows.
enum class Words { same, row, rows };
// How many products a handler executes: one, or a run of them, with vectors of eight lanes or as wide as the host
// has.
enum class Products { one, by_eights, wide };

// Two ld.shared and the fma of the two words: each group of eight lanes loads one word, or adjacent words.
Handler product_handler(const LaneOffsets& left, const LaneOffsets& right, Products products);
// Two ld.global and the fma of the two words, and further products: op->target operations in all.
Handler global_product_handler(Words left, Words right);
// op->count operations, all of them fma.
Handler fma_run_handler();
// op->target integer additions of op->count bytes each, on lane 0.
Handler addition_run_handler();

// For offsets with a constant stride in each group of eight lanes: whether the stride also holds across a host
// vector.
bool are_even_wide(const LaneOffsets& offsets);

}  // namespace roofwalk::vgpu
