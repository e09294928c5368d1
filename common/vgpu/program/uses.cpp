#include "common/vgpu/program/uses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

// Whether an instruction does nothing but compute a value.
bool only_computes(const ptx::Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case ptx::Form::alu:
    case ptx::Form::convert:
    case ptx::Form::cvta:
    case ptx::Form::move:
    case ptx::Form::select:
    case ptx::Form::compare:
    case ptx::Form::set:
    case ptx::Form::matrix_multiply:
    case ptx::Form::space_query:
      return true;
    case ptx::Form::load:
      return !in.is_volatile;
    default:
      return false;
  }
}

// Live registers, backward over the basic blocks. A register is live if an instruction with a use reads it later.
class LiveRegisters {
 public:
  LiveRegisters(const ptx::Function& function, const std::vector<BasicBlock>& blocks, const std::vector<int>& handed)
      : code_(function.instructions), blocks_(blocks), live_(function.registers.size()), always_(live_.size()) {
    const std::vector<bool> crosses = registers_across_blocks(function, blocks);
    for (std::size_t reg = 0; reg < crosses.size(); ++reg) {
      if (crosses[reg]) crossing_.push_back(static_cast<int>(reg));
    }
    for (const int reg : handed) always_[static_cast<std::size_t>(reg)] = true;
  }

  // Code for which this would take more than kMostSteps is taken as used.
  std::vector<bool> instructions_with_use() {
    constexpr std::uint64_t kMostSteps = 50'000'000;
    std::vector<bool> used(code_.size()), waits(blocks_.size(), true);
    std::vector<std::vector<std::uint32_t>> before(blocks_.size());
    std::vector<std::uint32_t> ahead;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      ahead.push_back(b);
      for (const std::uint32_t to : blocks_[b].successors) {
        if (to != kExitBlock) before[to].push_back(b);
      }
    }
    if (blocks_.size() * crossing_.size() > kMostSteps) return std::vector<bool>(code_.size(), true);
    at_begin_.assign(blocks_.size(), std::vector<bool>(crossing_.size()));
    std::uint64_t steps = 0;
    while (!ahead.empty()) {
      const std::uint32_t b = ahead.back();
      ahead.pop_back();
      waits[b] = false;
      steps += live_.size() / 64 + crossing_.size() * blocks_[b].successors.size() + blocks_[b].count;
      if (steps > kMostSteps) return std::vector<bool>(code_.size(), true);
      if (!walk(b, used)) continue;
      for (const std::uint32_t from : before[b]) {
        if (!waits[from]) ahead.push_back(from);
        waits[from] = true;
      }
    }
    return used;
  }

 private:
  // Marks the used instructions of a basic block. Returns whether more registers are live at its beginning than before.
  bool walk(std::uint32_t b, std::vector<bool>& used) {
    std::fill(live_.begin(), live_.end(), false);
    for (const std::uint32_t to : blocks_[b].successors) {
      for (std::size_t i = 0; to != kExitBlock && i < crossing_.size(); ++i) {
        if (at_begin_[to][i]) live_[static_cast<std::size_t>(crossing_[i])] = true;
      }
    }
    for (std::uint32_t pc = blocks_[b].first + blocks_[b].count; pc-- > blocks_[b].first;) {
      const ptx::Instruction& in = code_[pc];
      bool has_use = !only_computes(in);
      for_each_result(in, [&](int reg) { has_use = has_use || live_[reg] || always_[reg]; });
      if (!has_use) continue;
      used[pc] = true;
      // Lanes that a guard leaves out keep the old value.
      if (in.guard < 0) for_each_result(in, [&](int reg) { live_[reg] = false; });
      for_each_source(in, [&](int reg) { live_[reg] = true; });
    }
    bool more = false;
    for (std::size_t i = 0; i < crossing_.size(); ++i) {
      if (!live_[static_cast<std::size_t>(crossing_[i])] || at_begin_[b][i]) continue;
      at_begin_[b][i] = more = true;
    }
    return more;
  }

  const std::vector<ptx::Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  std::vector<char> live_, always_;          // by register
  std::vector<int> crossing_;                // registers
  std::vector<std::vector<bool>> at_begin_;  // by basic block and place in crossing_
};

}  // namespace

std::vector<bool> instructions_with_use(const ptx::Function& function, const std::vector<BasicBlock>& blocks,
                                        const std::vector<int>& handed) {
  return LiveRegisters(function, blocks, handed).instructions_with_use();
}

}  // namespace roofwalk::vgpu
