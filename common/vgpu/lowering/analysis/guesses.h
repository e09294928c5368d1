// Which loads only guess: `old = *word; while (...) atomicCAS(word, old, next(old))`.
#pragma once

#include <vector>

#include "common/vgpu/program/link.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Returns, by instruction, the plain loads whose value matters only if a compare-and-swap of the same word finds that
// the word still holds it. Such a value may only
// - be what the compare-and-swap compares with, or go into what it would store;
// - decide whether to go on to the compare-and-swap or to leave it out, and nothing else;
// - be used where control gets only after the compare-and-swap has found it;
// - be stored in each round of a loop that ends only then, each time to the same place;
// - lead to what a load finds in front of each compare-and-swap that compares with it; this value, too, may only do
//   these things.
// Empty if there are none. `parts`: the functions that `function` is linked of.
std::vector<bool> find_guesses(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                               const BlockUses& uses, const std::vector<LinkedPart>& parts);

}  // namespace roofwalk::vgpu
