// What a warp instruction costs of the budget of work (work.h).
#pragma once

#include <cstdint>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// How a launch runs, as far as weights depend on it.
struct WorkMode {
  bool counts = true, sanitized = false;
};

// Of a warp instruction of a function, without the lines of memory below.
std::uint32_t work_of(const ptx::Instruction& instruction, const ptx::Function& function, const WorkMode& mode);

}  // namespace roofwalk::vgpu
