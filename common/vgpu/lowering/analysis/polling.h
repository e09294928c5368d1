// Which loads poll: they wait for a value that another thread stores; and where nothing does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Returns, by instruction, the volatile, relaxed and acquire loads whose value shows when another thread has stored.
// Such a value decides a branch, directly or through moves, comparisons, integer arithmetic, exchanges in the warp, or
// the return from a function; or through a word of shared memory, by which one lane tells others what it has found. A
// volatile or relaxed load must also be in a loop, or ahead of one that loads so, as the compiler may copy a loop's
// first rounds in front of it. A function that the kernel calls needs no loop of its own.
// `called_from`: the first instruction of the functions that the kernel calls.
std::vector<bool> find_polling_loads(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                     std::uint32_t called_from);

// Returns, by instruction, the acquire loads and the atomics whose value picks what a thread uses, without any branch:
// it decides a guard or which of two values counts (`seen ? value : 0`), or, of a load, an address is made of it.
std::vector<bool> find_what_picks(const ptx::Function& function);

// Returns the first load of a basic block that waits by plain loads; nullopt: the block does not. Such a block is a
// loop by itself, and does nothing but load and compute: each of its rounds does what the one before did, unless
// another thread has stored to global memory meanwhile. As its loads are neither volatile nor relaxed nor acquire,
// ptxas takes it that nobody does: it loads once, and drops the loop (as of CUDA 13, for sm_80 and sm_90).
std::optional<std::uint32_t> find_plain_wait(const ptx::Function& function, const BasicBlock& block);

// Returns, by basic block, whether it ends in a branch ahead whose ways may run in any order: from none of them control
// gets, before they meet again, to a loop or a function in which lanes could wait for those of another way. On a GPU
// all lanes proceed, but here those of one way run until they meet the others.
std::vector<bool> find_ways_in_any_order(const ptx::Function& function, const std::vector<BasicBlock>& blocks);

}  // namespace roofwalk::vgpu
