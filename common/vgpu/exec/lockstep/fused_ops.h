// Handlers that do several operations of lockstep code at once: runs of fma, and fma of two words that are loaded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/vgpu/exec/lockstep/lockstep.h"

namespace roofwalk::vgpu {

inline constexpr std::uint32_t kWordBytes = sizeof(float);
inline constexpr std::size_t kEight = 8, kEights = kWarpSize / kEight;
inline constexpr std::size_t kMostProducts = 16;  // of one run of products of global memory

// What a load of global memory in lockstep finds: one word, words side by side, or words of 32 rows.
enum class Words { same, row, rows };
// How many products a handler does: one, or a run of them, eight or more lanes at once.
enum class Products { one, by_eights, wide };

// ld.shared, ld.shared, fma of the two: where each eight lanes load one word, or words side by side.
Handler product_handler(const Steps& left, const Steps& right, Products products);
// ld.global, ld.global, fma of the two, and on to op->target operations.
Handler global_product_handler(Words left, Words right);
// ld.global, and st.shared of what it loads; `contiguous`: all lanes load words side by side.
Handler copy_handler(bool contiguous);
// op->count operations, all of them fma.
Handler fma_run_handler();
// op->target additions of whole numbers that are one number for the warp, of op->count bytes each.
Handler addition_run_handler();

// Of steps that are even within each eight lanes: whether they are within as many as the host takes at once.
bool are_even_wide(const Steps& steps);

}  // namespace roofwalk::vgpu
