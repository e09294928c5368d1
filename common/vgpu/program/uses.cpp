#include "common/vgpu/program/uses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/vgpu/program/backward.h"
#include "common/vgpu/program/operands.h"

namespace roofwalk::vgpu {
namespace {

// Whether ptxas removes an instruction whose result nothing uses: one that only computes a value, loads it, or has it
// of other lanes. (It keeps barriers, fences, prefetches, sleeps and volatile accesses.)
bool is_removable(const ptx::Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case ptx::Form::alu:
    case ptx::Form::convert:
    case ptx::Form::cvta:
    case ptx::Form::move:
    case ptx::Form::select:
    case ptx::Form::compare:
    case ptx::Form::set:
    case ptx::Form::number_test:
    case ptx::Form::carry:
    case ptx::Form::matrix_multiply:
    case ptx::Form::space_query:
    case ptx::Form::cache_policy:
    case ptx::Form::shuffle:
    case ptx::Form::vote:
    case ptx::Form::active_mask:
    case ptx::Form::warp_reduce:
    case ptx::Form::warp_match:
      return true;
    case ptx::Form::mbarrier:
      return in.mbarrier == ptx::MbarrierMode::pending_count;
    case ptx::Form::load:
      return !in.is_volatile;
    default:
      return false;
  }
}

// Live registers, backward over the basic blocks. A register is live if an instruction with a use reads it later.
class LiveRegisters {
 public:
  LiveRegisters(const ptx::Function& function, const std::vector<BasicBlock>& blocks, const BlockUses& uses,
                const std::vector<int>& handed)
      : code_(function.instructions),
        blocks_(blocks),
        uses_(uses),
        words_(uses.words()),
        crossing_(words_),
        within_(function.registers.size()),
        always_(within_.size()) {
    for (const int reg : handed) always_[static_cast<std::size_t>(reg)] = true;
  }

  std::optional<std::vector<bool>> instructions_with_use() {
    constexpr std::uint64_t kMostSteps = 50'000'000;
    std::vector<bool> used(code_.size());
    at_begin_.resize(blocks_.size() * words_);
    std::uint64_t steps = 0;
    walk_backward(blocks_, [&](std::uint32_t b) {
      steps += words_ * (blocks_[b].successors.size() + 1) + blocks_[b].count;
      return steps <= kMostSteps && walk(b, used);
    });
    return steps <= kMostSteps ? std::optional(std::move(used)) : std::nullopt;
  }

 private:
  bool is_live(std::size_t reg) const {
    if (always_[reg]) return true;
    const std::size_t place = uses_.place(reg);
    return place == BlockUses::kNoPlace ? within_[reg] != 0 : (crossing_[place / 64] >> (place % 64) & 1u) != 0;
  }
  void set_live(std::size_t reg, bool live) {
    const std::size_t place = uses_.place(reg);
    if (place == BlockUses::kNoPlace) {
      within_[reg] = live;
      return;
    }
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    crossing_[place / 64] = live ? crossing_[place / 64] | bit : crossing_[place / 64] & ~bit;
  }

  // A branch whose ways are one does not depend on its guard.
  static bool has_a_choice(const BasicBlock& block) { return block.successors.size() > 1; }

  // Marks the used instructions of a basic block. Returns whether more registers are live at its beginning than before.
  bool walk(std::uint32_t b, std::vector<bool>& used) {
    std::fill(crossing_.begin(), crossing_.end(), 0);
    for (const std::uint32_t to : blocks_[b].successors) {
      for (std::size_t w = 0; to != kExitBlock && w < words_; ++w) crossing_[w] |= at_begin_[to * words_ + w];
    }
    for (std::uint32_t pc = blocks_[b].first + blocks_[b].count; pc-- > blocks_[b].first;) {
      const ptx::Instruction& in = code_[pc];
      bool has_use = !is_removable(in);
      for_each_result(in, [&](std::size_t reg) { has_use = has_use || is_live(reg); });
      if (!has_use) continue;
      used[pc] = true;
      if (ptx::info(in.opcode).form == ptx::Form::branch && !has_a_choice(blocks_[b])) continue;
      // Lanes that a guard leaves out keep the old value.
      if (in.guard < 0) for_each_result(in, [&](std::size_t reg) { set_live(reg, false); });
      for_each_source(in, [&](std::size_t reg) { set_live(reg, true); });
    }
    bool more = false;
    for (std::size_t w = 0; w < words_; ++w) {
      std::uint64_t& begin = at_begin_[b * words_ + w];
      more = more || (crossing_[w] & ~begin) != 0;
      begin |= crossing_[w];
    }
    return more;
  }

  const std::vector<ptx::Instruction>& code_;
  const std::vector<BasicBlock>& blocks_;
  const BlockUses& uses_;
  const std::size_t words_;
  std::vector<std::uint64_t> crossing_;  // bits of BlockUses::registers(): live
  std::vector<char> within_, always_;    // by register: live, if it crosses no blocks; live in every block
  std::vector<std::uint64_t> at_begin_;  // by basic block and word: the former at its beginning
};

}  // namespace

std::optional<std::vector<bool>> instructions_with_use(const ptx::Function& function,
                                                       const std::vector<BasicBlock>& blocks, const BlockUses& uses,
                                                       const std::vector<int>& handed) {
  return LiveRegisters(function, blocks, uses, handed).instructions_with_use();
}

}  // namespace roofwalk::vgpu
