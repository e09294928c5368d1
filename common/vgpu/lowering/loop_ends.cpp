#include "common/vgpu/lowering/loop_ends.h"

#include <algorithm>

#include "common/vgpu/program/instructions.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

using ptx::Form;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

Form form_of(const Instruction& in) { return ptx::info(in.opcode).form; }

bool copies(const Instruction& in) { return in.async == ptx::AsyncMode::copy; }

// Whether what an instruction reads may have been written by another one, elsewhere than in global memory.
bool reads_beside_global(const Instruction& in) {
  switch (form_of(in)) {
    case Form::load:
      return in.space != Space::global && in.space != Space::constant;
    case Form::atomic:
    case Form::fragment_load:
      return in.space != Space::global;
    case Form::matrix_load:
    case Form::mbarrier:
      return true;
    default:
      return false;
  }
}

bool writes_beside_global(const Instruction& in) {
  switch (form_of(in)) {
    case Form::store:
    case Form::atomic:
    case Form::reduction:
    case Form::fragment_store:
      return in.space != Space::global;
    case Form::mbarrier:
      return true;
    default:
      return in.async == ptx::AsyncMode::mbarrier_arrive || copies(in);
  }
}

// By basic block: the blocks whose last instruction decides whether it is executed.
class Deciders {
 public:
  explicit Deciders(const std::vector<BasicBlock>& blocks) : of_(blocks.size()) {
    // Ferrante, Ottenstein, Warren: The Program Dependence Graph (1987): from each successor up to where the ways meet.
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].successors.size() < 2) continue;
      choosing_.push_back(b);
      for (std::uint32_t at : blocks[b].successors) {
        for (; at != kExitBlock && at != blocks[b].reconvergence && left_ != 0; at = blocks[at].reconvergence, --left_)
          of_[at].push_back(b);
      }
    }
  }

  // All that choose, if the code was too large to search.
  const std::vector<std::uint32_t>& of(std::uint32_t block) const { return left_ == 0 ? choosing_ : of_[block]; }

 private:
  std::size_t left_ = std::size_t{1} << 20;  // steps
  std::vector<std::vector<std::uint32_t>> of_;
  std::vector<std::uint32_t> choosing_;
};

// Follows what decides whether loops end back to all that it depends on.
class Dependences {
 public:
  Dependences(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
              const std::vector<LinkedPart>& parts)
      : code_(function.instructions),
        blocks_(blocks),
        parts_(parts),
        deciders_(blocks),
        block_of_(code_.size()),
        makers_(function.registers.size()),
        wanted_(code_.size()),
        wanted_registers_(makers_.size()),
        wanted_blocks_(blocks.size()) {
    for (std::uint32_t b = 0; b < blocks.size(); ++b)
      std::fill_n(block_of_.begin() + blocks[b].first, blocks[b].count, b);
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      const auto makes = [&](int reg) { makers_[static_cast<std::size_t>(reg)].push_back(pc); };
      for_each_result(code_[pc], makes);
      if (!calls_linked(code_[pc])) continue;
      calls_.push_back(pc);
      for (const LinkedPart& part : parts) {
        for (const Operand& parameter : part.parameters) for_each_register(parameter, makes);
      }
    }
  }

  // Follows all that the instruction depends on.
  void follow(std::uint32_t pc) {
    want(pc);
    follow_wanted();
  }
  void follow_guard(std::uint32_t pc) {
    want_register(code_[pc].guard);
    follow_wanted();
  }

  bool has(std::uint32_t pc) const { return wanted_[pc]; }

 private:
  void follow_wanted() {
    while (!ahead_.empty()) {
      const std::uint32_t next = ahead_.back();
      ahead_.pop_back();
      visit(next);
    }
  }

  void want(std::uint32_t pc) {
    if (wanted_[pc]) return;
    wanted_[pc] = true;
    ahead_.push_back(pc);
  }

  void want_register(int reg) {
    const auto at = static_cast<std::size_t>(reg);
    if (wanted_registers_[at]) return;
    wanted_registers_[at] = true;
    for (const std::uint32_t pc : makers_[at]) want(pc);
  }

  void visit(std::uint32_t pc) {
    const Instruction& in = code_[pc];
    for_each_source(in, [&](int reg) { want_register(reg); });
    if (calls_linked(in)) {
      for (const LinkedPart& part : parts_) {
        for (const Operand& result : part.results) for_each_register(result, [&](int reg) { want_register(reg); });
      }
    }
    if (reads_beside_global(in) && !is_of_kernel(in)) want_writers();
    want_deciders(block_of_[pc]);
  }

  // Whether an instruction loads a parameter of the kernel, which nobody writes.
  bool is_of_kernel(const Instruction& in) const {
    if (in.space != Space::param) return false;
    return std::none_of(parts_.begin(), parts_.end(), [&](const LinkedPart& part) {
      const auto is_here = [&](const Operand& each) { return each.symbol == in.operands[1].symbol; };
      return std::any_of(part.parameters.begin(), part.parameters.end(), is_here) ||
             std::any_of(part.results.begin(), part.results.end(), is_here);
    });
  }

  void want_writers() {
    if (std::exchange(through_memory_, true)) return;
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (writes_beside_global(code_[pc])) want(pc);
    }
  }

  void want_deciders(std::uint32_t block) {
    if (wanted_blocks_[block]) return;
    wanted_blocks_[block] = true;
    for (const std::uint32_t from : deciders_.of(block)) want(blocks_[from].first + blocks_[from].count - 1);
    const bool is_called = !parts_.empty() && blocks_[block].first >= parts_[0].count;
    if (is_called) std::for_each(calls_.begin(), calls_.end(), [&](std::uint32_t pc) { want(pc); });
  }

  const std::vector<Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  const std::vector<LinkedPart>& parts_;
  Deciders deciders_;
  std::vector<std::uint32_t> block_of_;             // by instruction
  std::vector<std::vector<std::uint32_t>> makers_;  // by register: the instructions that write it
  std::vector<std::uint32_t> calls_, ahead_;        // ahead_: wanted, but not visited
  std::vector<bool> wanted_, wanted_registers_, wanted_blocks_;
  bool through_memory_ = false;  // whether all writers of memory are wanted
};

// Whether an instruction reads memory that other blocks may write, in a way that can wait for them.
bool may_look(const Instruction& in) {
  const Form form = form_of(in);
  return form == Form::load || form == Form::fragment_load || form == Form::atomic || copies(in);
}

}  // namespace

std::vector<bool> find_what_ends_loops(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                       const std::vector<LinkedPart>& parts) {
  const auto& code = function.instructions;
  const std::vector<bool> in_loop = find_loops(blocks, [](const BasicBlock&) { return true; });
  std::vector<bool> ends = find_loop_ends(blocks);
  const auto is_called = [&](std::uint32_t pc) { return !parts.empty() && pc >= parts[0].count; };
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    ends[b] = ends[b] || std::any_of(parts.begin(), parts.end(), [&](const LinkedPart& part) {
                const std::uint32_t first = blocks[b].first;
                return part.recursive && first >= part.first && first < part.first + part.count &&
                       blocks[b].successors.size() > 1;
              });
  }
  Dependences ending(function, blocks, parts);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    if (ends[b] && blocks[b].count != 0) ending.follow(blocks[b].first + blocks[b].count - 1);
  }
  std::vector<bool> out(code.size());
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      out[pc] = may_look(code[pc]) && (in_loop[b] || is_called(pc)) && ending.has(pc);
    }
  }
  return out;
}

std::vector<bool> find_what_chooses_ways(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                         const std::vector<LinkedPart>& parts) {
  const auto& code = function.instructions;
  Dependences choosing(function, blocks, parts);
  for (const BasicBlock& block : blocks) {
    if (block.successors.size() > 1) choosing.follow(block.first + block.count - 1);
  }
  std::vector<bool> out(code.size());
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].guard >= 0 && is_memory(code[pc])) choosing.follow_guard(pc);
  }
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) out[pc] = may_look(code[pc]) && choosing.has(pc);
  return out;
}

}  // namespace roofwalk::vgpu
