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

// Which values of registers are wanted at the start of a basic block. A write with a guard does not end the former
// value, because lanes may keep it.
class BlockUses {
 public:
  BlockUses(const ptx::Function& function, const std::vector<BasicBlock>& blocks);

  // Whether the code was small enough to search. If not, only is_known() may be called.
  bool is_known() const { return is_known_; }
  // Whether some path from the start of a block leads to a read of the register's present value.
  bool is_wanted_in(std::size_t reg, std::size_t block) const {
    return place_[reg] != kNoPlace && (wanted_[word(reg, block)] & bit(reg)) != 0;
  }
  // The registers that may carry a value from one basic block to another, or from before the code into it; ascending.
  const std::vector<int>& registers() const { return registers_; }
  // The register's place in registers(); kNoPlace: it is not one of them.
  std::size_t place(std::size_t reg) const { return place_[reg]; }
  std::size_t words() const { return words_; }  // of 64 bits, for one bit of each of registers()
  std::uint64_t host_bytes() const;

  static constexpr std::size_t kNoPlace = ~std::size_t{0};

 private:
  static constexpr std::size_t kWordBits = 64;

  std::size_t word(std::size_t reg, std::size_t block) const { return block * words_ + place_[reg] / kWordBits; }
  std::uint64_t bit(std::size_t reg) const { return std::uint64_t{1} << (place_[reg] % kWordBits); }

  std::vector<int> registers_;
  std::vector<std::size_t> place_;  // by register: in registers_, or kNoPlace
  std::size_t words_ = 0;           // per block
  std::vector<std::uint64_t> wanted_;
  bool is_known_ = false;
};

// Returns the registers, in ascending order, that some path reads before anything has been written to them. Paths begin
// with the first block, and with the instructions `entries`.
std::vector<int> registers_read_unwritten(const BlockUses& uses, const std::vector<BasicBlock>& blocks,
                                          const std::vector<std::uint32_t>& entries);

// Kernels with more registers that cross basic blocks are refused. Kernels of a chapter have a few hundred.
inline constexpr std::size_t kMaxRegistersAcrossBlocks = 30'000;

}  // namespace roofwalk::vgpu
