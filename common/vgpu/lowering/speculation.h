// Loads that the compiler has moved ahead of their condition. nvcc loads shared memory although only some threads want
// the value, and picks the wanted lanes afterwards (selp, and.pred, or a branch of which one side wants none). The
// source reads nothing in the other lanes, so the sanitizer must check the wanted ones only.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/vgpu/program/operands.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// An instruction that uses what a load brought only in the lanes where a predicate has one of its two values. A value
// may reach its uses on several ways; a lane wants it if all conditions of one way hold.
struct Pick {
  std::uint32_t load = 0;      // instruction
  int predicate = 0;           // register
  std::uint32_t if_true = 0;   // the ways on which the predicate must be true: bits
  std::uint32_t if_false = 0;  // ... false
  bool is_last = false;        // of this load
};

// A load whose value only some lanes may want.
struct SpeculativeLoad {
  std::uint32_t number = 0;  // within its basic block
  std::uint32_t ways = 0;    // bits
};

struct Speculation {
  std::map<std::uint32_t, SpeculativeLoad> loads;    // by instruction
  std::map<std::uint32_t, std::vector<Pick>> picks;  // by instruction that picks
};

// Finds the loads of shared and local memory that may be speculative: all uses of the value lead, in the load's basic
// block, through instructions without other effects to picks, such as the branch at the block's end. In between lies
// nothing that a later check could mistake for an earlier event: no store to these memories and no synchronization.
// Volatile loads and loads with a guard are what the source says. `called_from`: the first instruction of the functions
// that the kernel calls, whose loads are left out, because their results reach the caller unseen.
Speculation find_speculation(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                             const BlockUses& uses, std::uint32_t called_from);

}  // namespace roofwalk::vgpu
