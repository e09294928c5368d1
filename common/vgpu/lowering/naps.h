// How long a warp sleeps when a poll fails.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Returns, by instruction that polls, the sleep that follows if it fails (Program::naps). A poll decides a branch, and
// the sleep is on one of the branch's ways before they meet again, in a loop with the poll or ahead of that loop.
// Sleeps that depend on a clock do not count: how long they are, if they come at all, is known only when they are made,
// as in the waits of libcu++, which poll for microseconds before they sleep. `slot_of`: the place of a register.
std::map<std::uint32_t, Nap> find_naps(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                       const std::function<Slot(int)>& slot_of);

}  // namespace roofwalk::vgpu
