// Which relaxed loads only peek: whatever they find, their thread does the same with shared memory.
#pragma once

#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Returns, by instruction, the relaxed loads of memory that threads of a block may share, whose value does not go
// anywhere itself. It may only, directly or through moves, comparisons and arithmetic,
// - pick between values none of which comes from memory that threads share;
// - decide between ways on which nothing is done with such memory, or with what comes from it, until they meet again.
// Empty if there are none.
std::vector<bool> find_peeks(const ptx::Function& function, const std::vector<BasicBlock>& blocks);

}  // namespace roofwalk::vgpu
