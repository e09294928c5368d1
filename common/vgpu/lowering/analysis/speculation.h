// Loads that the compiler has moved ahead of their condition. nvcc loads shared memory although only some threads want
// the value, and picks the wanted lanes afterwards (selp, and.pred, or a branch of which one side wants none), maybe in
// a loop behind the load. The source reads nothing in the other lanes, so the sanitizer must look for races of the
// wanted ones only. (Unset values are followed to their use, whoever has loaded them.)
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/vgpu/program/link.h"
#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// An instruction that uses what a load brought only in the lanes where a predicate has one of its two values. A value
// may reach its uses on several ways; a lane wants it if all conditions of one way hold.
struct Pick {
  std::uint32_t number = 0;    // of the held load, in the basic block
  int predicate = 0;           // register
  std::uint32_t if_true = 0;   // the ways on which the predicate must be true: bits
  std::uint32_t if_false = 0;  // ... false
  bool is_last = false;        // of this load
};

// A load whose value only some lanes may want.
struct SpeculativeLoad {
  std::uint32_t number = 0;  // within its basic block
  std::uint32_t ways = 0;    // bits; none: other blocks take it up
};

// At the start of a basic block that uses the value of a load of another block: the lanes that have not been checked
// yet are held in this block, too, or checked at once.
struct TakenUp {
  std::uint32_t number = 0;       // of the load; larger than all numbers in blocks
  std::uint32_t number_here = 0;  // in this block
  std::uint32_t ways = 0;         // bits; none: all lanes want the value
};

struct Speculation {
  std::map<std::uint32_t, SpeculativeLoad> loads;          // by instruction
  std::map<std::uint32_t, std::vector<Pick>> picks;        // by instruction that picks
  std::map<std::uint32_t, std::vector<TakenUp>> taken_up;  // by basic block
};

// Finds the loads of shared memory that may be speculative: all uses of the value lead, in the load's basic
// block, through instructions without other effects to picks, such as the branch at the block's end. In between lies
// nothing that a later check could mistake for an earlier event: no store to this memory and no synchronization.
// If only other blocks use the value, and one of them picks, or some way leads past them, the same holds for each of
// these, and nothing of the kind lies on the way to them. A load of a vector counts as one value. Volatile loads and
// loads with a guard are what the source says. `parts`: the functions that `function` is linked of; a value that is
// handed from one to the other is wanted.
Speculation find_speculation(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                             const BlockUses& uses, const std::vector<LinkedPart>& parts);

}  // namespace roofwalk::vgpu
