// What the instructions of a kernel and of the functions that it calls depend on.
#pragma once

#include <cstdint>
#include <vector>

#include "common/vgpu/program/link.h"
#include "common/vgpu/program/passed_values.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// An instruction depends on what makes its sources and its guard, on what decides whether it is executed, and, if it
// reads memory, on all that may write there: to any memory but global, as one kind; to global memory only if the reader
// is in a loop or in a function that is called, as a load that is executed once cannot see what later ones leave there.
class DependenceGraph {
 public:
  DependenceGraph(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                  const std::vector<LinkedPart>& parts);

  // Follows all that an instruction, or its guard alone, depends on.
  void follow(std::uint32_t pc) { follow_node(pc); }
  void follow_guard(std::uint32_t pc) { follow_node(register_node(code_[pc].guard)); }
  // Whether an instruction was followed, or is one on which such an instruction depends.
  bool has(std::uint32_t pc) const { return followed_[pc]; }

  // By instruction: whether it depends on itself.
  std::vector<bool> find_cycles() const;
  // Whether the last instruction of a basic block decides whether an access to memory, a sleep or a call is executed.
  bool decides_accesses(std::uint32_t block) const { return decides_accesses_[block]; }

  bool is_in_loop(std::uint32_t block) const { return in_loop_[block]; }
  bool is_called(std::uint32_t pc) const { return pc >= called_from_; }

 private:
  std::uint32_t register_node(int reg) const { return first_register_ + static_cast<std::uint32_t>(reg); }
  std::uint32_t last_of(std::uint32_t block) const { return blocks_[block].first + blocks_[block].count - 1; }
  void depend(std::uint32_t node, std::uint32_t on) { nodes_[node].successors.push_back(on); }
  void add_deciders();
  void add_instruction(std::uint32_t pc, std::uint32_t block, const OwnParameters& own);
  void follow_node(std::uint32_t node);

  const std::vector<ptx::Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  const std::uint32_t called_from_;  // the first instruction of the functions that the kernel calls
  // Of the graph: the instructions come first, then the registers, the basic blocks, and those below. A block depends
  // on what decides whether it is executed, a kind of memory on all that write there.
  const std::uint32_t first_register_, first_block_, beside_global_, global_, calls_, choosing_;
  std::vector<BasicBlock> nodes_;  // successors: what it depends on
  std::vector<bool> followed_, in_loop_, decides_accesses_;
};

}  // namespace roofwalk::vgpu
