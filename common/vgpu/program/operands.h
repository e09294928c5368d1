// Which operands of an instruction are results and which are sources, and which registers live across basic blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/ptx/module.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// Number of operands that are results. Results come first; an address is always a source.
std::size_t result_count(const ptx::Instruction& in);

// Calls visit(register) for each register of an operand.
template <class Visit>
void for_each_register(const ptx::Operand& operand, Visit&& visit) {
  using Kind = ptx::Operand::Kind;
  if (operand.index >= 0 && (operand.kind == Kind::reg || operand.kind == Kind::address)) visit(operand.index);
  for (const ptx::Operand& element : operand.elements) for_each_register(element, visit);
}

// Calls visit(register) for each register that an instruction writes.
template <class Visit>
void for_each_result(const ptx::Instruction& in, Visit&& visit) {
  for (std::size_t i = 0; i < std::min(result_count(in), in.operands.size()); ++i)
    for_each_register(in.operands[i], visit);
  for (const ptx::Operand& operand : in.call_results) for_each_register(operand, visit);
}

// Calls visit(register) for each register that an instruction reads, its guard included.
template <class Visit>
void for_each_source(const ptx::Instruction& in, Visit&& visit) {
  for (std::size_t i = result_count(in); i < in.operands.size(); ++i) for_each_register(in.operands[i], visit);
  for (const ptx::Operand& operand : in.call_arguments) for_each_register(operand, visit);
  if (in.guard >= 0) visit(in.guard);
}

// By register: whether a branch, a call through a pointer or the guard of an exit, a barrier or an access depends on
// it, directly or through other registers or memory. `states`: whether the state that an arrival at an mbarrier
// returns, and a wait takes, counts as such a value; as a rule, it only names the phase.
enum class States : std::uint8_t { followed, left_out };
std::vector<bool> registers_that_decide(const ptx::Function& function, States states);

// By register: whether it may carry a value from one basic block to another.
std::vector<bool> registers_across_blocks(const ptx::Function& function, const std::vector<BasicBlock>& blocks);

// Which basic blocks read a register before they write it, and which write it. A write with a guard does not count,
// because lanes may keep the old value.
class BlockUses {
 public:
  BlockUses(const ptx::Function& function, const std::vector<BasicBlock>& blocks);

  // Whether some path from the start of a block leads to a read of the register's present value. After many steps in
  // all searches together, the answer is always yes.
  bool is_wanted_in(std::size_t reg, std::uint32_t block);
  bool is_read_across_blocks(std::size_t reg) const { return !readers_[reg].empty(); }

 private:
  static constexpr std::uint32_t kMostSteps = 1u << 24;

  const std::vector<BasicBlock>& blocks_;
  std::vector<std::vector<std::uint32_t>> readers_, writers_;  // by register, in ascending order
  std::vector<std::uint32_t> seen_;                            // by block: the last search that has visited it
  std::uint32_t searches_ = 0, steps_ = 0;
};

// Returns the registers, in ascending order, that some path reads before anything has been written to them. Paths begin
// with the function's first instruction, and with `entries`.
std::vector<int> registers_read_unwritten(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                          const std::vector<std::uint32_t>& entries);

// Kernels with more registers that cross basic blocks are refused. Kernels of a chapter have a few hundred.
inline constexpr std::size_t kMaxRegistersAcrossBlocks = 30'000;

}  // namespace roofwalk::vgpu
