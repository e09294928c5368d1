// Which instructions may find out, from memory, whether a loop ends.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/program/link.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Returns, by instruction, the loads, copies to shared memory and atomics in loops, or in functions that the kernel
// calls, of whose value it depends
// - whether a loop or a recursion ends, or a function that is called ends the thread;
// - whether accesses to memory are made, where that depends on how it was decided before: a loop may go on, but do
//   nothing any more.
// It may depend on the value by any arithmetic, as an index, by what is stored to and read from memory, by calls, or
// because the value decides which of these are executed. More than polls do, so that no wait can hide; only for the
// clock, as most of these loads do not wait for anybody.
std::vector<bool> find_what_ends_loops(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                       const std::vector<LinkedPart>& parts);

// The same for all code, and for whether branches are taken or accesses to memory made.
std::vector<bool> find_what_chooses_ways(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                         const std::vector<LinkedPart>& parts);

}  // namespace roofwalk::vgpu
