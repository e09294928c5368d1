// Loads and stores of values that nobody has written (state/unset_values.h).
#pragma once

#include <array>
#include <cstdint>

#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/state/unset_values.h"

namespace roofwalk::vgpu {

// By part of the data of a load or store: lanes.
using PartLanes = std::array<std::uint32_t, UnsetValues::kMostParts>;

// Returns the number of registers that a load or store moves.
std::size_t part_count(const ptx::Instruction& in);

// Marks the registers in which a load has found unwritten bytes only. `next`: what the load's handler would return.
// Returns what it shall return.
const Op* mark_unset(const Launch& launch, Warp& warp, const Op* op, const Access& access, const PartLanes& unset,
                     bool is_local, const Op* next);

}  // namespace roofwalk::vgpu
