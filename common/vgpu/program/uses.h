// Which instructions compute a value that is used.
#pragma once

#include <optional>
#include <vector>

#include "common/ptx/module.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Returns, by instruction, whether its result, directly or through others, reaches memory, decides a branch, or is in
// one of the registers `handed` to another function. ptxas removes arithmetic, loads and exchanges between lanes whose
// results do not. nullopt: the code would take too long to search.
std::optional<std::vector<bool>> instructions_with_use(const ptx::Function& function,
                                                       const std::vector<BasicBlock>& blocks, const BlockUses& uses,
                                                       const std::vector<int>& handed);

}  // namespace roofwalk::vgpu
