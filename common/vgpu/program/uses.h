// Which instructions compute a value that is used.
#pragma once

#include <vector>

#include "common/ptx/module.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// By instruction: whether its result, directly or through others, comes to memory, another lane, a way that a warp
// takes or one of the registers `handed` to another function. ptxas leaves out arithmetic and loads whose results do
// not.
std::vector<bool> instructions_with_use(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                        const std::vector<int>& handed);

}  // namespace roofwalk::vgpu
