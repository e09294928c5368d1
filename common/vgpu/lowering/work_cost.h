// How much of the budget of work (work.h) a warp instruction uses.
#pragma once

#include <cstdint>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// The properties of a run that the weights depend on.
struct WorkMode {
  bool counts = true, sanitized = false;
};

// Weight of one warp instruction, without the cost of the lines that it touches (work.h).
std::uint32_t work_of(const ptx::Instruction& instruction, const ptx::Function& function, const WorkMode& mode);

// The same if a single lane is active: of what costs the host time lane by lane, less.
std::uint32_t work_of_one_lane(const ptx::Instruction& instruction, const ptx::Function& function,
                               const WorkMode& mode);

// What a call, or the entry of the called function, weighs more if each lane hands over so many bytes, which are copied
// one by one. A few are part of its own weight.
std::uint32_t work_of_passing(std::uint64_t bytes);

}  // namespace roofwalk::vgpu
