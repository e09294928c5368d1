#include "common/vgpu/program/operands.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/vgpu/program/backward.h"
#include "common/vgpu/program/passed_values.h"

namespace roofwalk::vgpu {

std::size_t result_count(const ptx::Instruction& in) {
  using ptx::BarrierMode;
  using ptx::Form;
  switch (ptx::info(in.opcode).form) {
    case Form::compare:
    case Form::carry:
    case Form::shuffle:
    case Form::warp_match:
      return 2;
    case Form::barrier:
      return in.barrier == BarrierMode::red_popc || in.barrier == BarrierMode::red_and ||
                     in.barrier == BarrierMode::red_or
                 ? 1
                 : 0;
    case Form::mbarrier:
      return in.mbarrier == ptx::MbarrierMode::init || in.mbarrier == ptx::MbarrierMode::inval ? 0 : 1;
    case Form::sleep:
    case Form::store:
    case Form::fragment_store:
    case Form::reduction:
    case Form::branch:
    case Form::indexed_branch:
    case Form::leave:
    case Form::trap:
    case Form::fence:
    case Form::prefetch:
    case Form::call:
    case Form::async_copy:
      return 0;
    default:
      return 1;
  }
}

// Whether an instruction asks if the phase of an mbarrier is over in which an arrival returned this state.
static bool waits_for_state(const ptx::Instruction& in) {
  const bool waits = in.mbarrier == ptx::MbarrierMode::test_wait || in.mbarrier == ptx::MbarrierMode::try_wait;
  return waits && !in.parity;
}

static bool reads_memory(const ptx::Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case ptx::Form::load:
      return in.space != ptx::Space::param && in.space != ptx::Space::constant;
    case ptx::Form::atomic:
    case ptx::Form::mbarrier:
    case ptx::Form::matrix_load:
    case ptx::Form::fragment_load:
      return true;
    default:
      return false;
  }
}

static bool writes_memory(const ptx::Instruction& in) {
  switch (ptx::info(in.opcode).form) {
    case ptx::Form::store:
    case ptx::Form::atomic:
    case ptx::Form::reduction:
    case ptx::Form::mbarrier:
    case ptx::Form::fragment_store:
    case ptx::Form::async_copy:
      return true;
    default:
      return false;
  }
}

std::vector<bool> registers_that_decide(const ptx::Function& function, States states) {
  const auto& code = function.instructions;
  // By register: the instructions that write it.
  std::vector<std::vector<std::uint32_t>> makers(function.registers.size());
  std::vector<std::uint32_t> writers;  // of memory
  bool through_memory = false;         // whether a value that decides was read from memory: any writer may have made it
  std::vector<bool> decides(makers.size()), seen(code.size());
  std::vector<int> ahead;  // registers whose writing instructions are still to be examined
  const OwnParameters own(function);
  const auto reads_written = [&](const ptx::Instruction& in) {
    const bool is_passed =
        ptx::info(in.opcode).form == ptx::Form::load && in.space == ptx::Space::param && !own.has(in);
    return is_passed || reads_memory(in) || passes_in_memory(in);
  };
  const auto read = [&](int reg) {
    if (decides[static_cast<std::size_t>(reg)]) return;
    decides[static_cast<std::size_t>(reg)] = true;
    ahead.push_back(reg);
  };
  const auto read_sources = [&](std::uint32_t pc) {
    const bool is_followed = states == States::followed || !waits_for_state(code[pc]);
    if (is_followed && !seen[pc]) for_each_source(code[pc], read);
    seen[pc] = true;
  };
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    for_each_result(code[pc], [&](int reg) { makers[static_cast<std::size_t>(reg)].push_back(pc); });
    if (writes_memory(code[pc]) || passes_in_memory(code[pc])) writers.push_back(pc);
    if (chooses_way(code[pc])) for_each_source(code[pc], read);
    // Whether lanes exit, synchronize or access memory is a way, too.
    const bool does_more = result_count(code[pc]) == 0 || reads_memory(code[pc]) || writes_memory(code[pc]);
    if (code[pc].guard >= 0 && does_more) read(code[pc].guard);
  }
  while (!ahead.empty()) {
    const auto reg = static_cast<std::size_t>(ahead.back());
    ahead.pop_back();
    for (const std::uint32_t pc : makers[reg]) {
      read_sources(pc);
      if (!reads_written(code[pc]) || std::exchange(through_memory, true)) continue;
      for (const std::uint32_t writer : writers) read_sources(writer);
    }
  }
  return decides;
}

std::vector<bool> registers_across_blocks(const ptx::Function& function, const std::vector<BasicBlock>& blocks) {
  std::vector<bool> crosses(function.registers.size());
  // The last block that wrote the register; kExitBlock: none so far.
  std::vector<std::uint32_t> home(crosses.size(), kExitBlock);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      const ptx::Instruction& in = function.instructions[pc];
      const auto read = [&](int reg) {
        if (home[reg] != b) crosses[reg] = true;
      };
      for_each_source(in, read);
      if (in.guard >= 0) for_each_result(in, read);  // masked-off lanes keep the old value
      for_each_result(in, [&](int reg) {
        if (home[reg] != kExitBlock && home[reg] != b) crosses[reg] = true;
        home[reg] = b;
      });
    }
  }
  return crosses;
}

BlockUses::BlockUses(const ptx::Function& function, const std::vector<BasicBlock>& blocks)
    : place_(function.registers.size(), kNoPlace) {
  constexpr std::size_t kMostWords = 1u << 22, kMostSteps = 1u << 26;
  const std::vector<bool> crosses = registers_across_blocks(function, blocks);
  for (std::size_t reg = 0; reg < crosses.size(); ++reg) {
    if (!crosses[reg]) continue;
    place_[reg] = registers_.size();
    registers_.push_back(static_cast<int>(reg));
  }
  words_ = (registers_.size() + kWordBits - 1) / kWordBits;
  is_known_ = words_ * blocks.size() <= kMostWords;
  if (!is_known_) return;
  wanted_.resize(words_ * blocks.size());
  std::vector<std::uint64_t> written(wanted_.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      const ptx::Instruction& in = function.instructions[pc];
      for_each_source(in, [&](std::size_t reg) {
        if (crosses[reg]) wanted_[word(reg, b)] |= bit(reg) & ~written[word(reg, b)];
      });
      if (in.guard >= 0) continue;
      for_each_result(in, [&](std::size_t reg) {
        if (crosses[reg]) written[word(reg, b)] |= bit(reg);
      });
    }
  }
  // What the next blocks want, a block wants, too, unless it writes it.
  std::size_t steps = 0;
  walk_backward(blocks, [&](std::uint32_t b) {
    bool more_than_before = false;
    is_known_ = (steps += words_ * blocks[b].successors.size()) <= kMostSteps;
    if (!is_known_) return false;
    for (const std::uint32_t to : blocks[b].successors) {
      for (std::size_t w = 0; to != kExitBlock && w < words_; ++w) {
        const std::uint64_t more = wanted_[to * words_ + w] & ~written[b * words_ + w] & ~wanted_[b * words_ + w];
        wanted_[b * words_ + w] |= more;
        more_than_before = more_than_before || more != 0;
      }
    }
    return more_than_before;
  });
}

std::uint64_t BlockUses::host_bytes() const {
  return registers_.capacity() * sizeof(int) + place_.capacity() * sizeof(std::size_t) +
         wanted_.capacity() * sizeof(std::uint64_t);
}

std::vector<int> registers_read_unwritten(const BlockUses& uses, const std::vector<BasicBlock>& blocks,
                                          const std::vector<std::uint32_t>& entries) {
  std::vector<std::size_t> starts;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (b == 0 || std::find(entries.begin(), entries.end(), blocks[b].first) != entries.end()) starts.push_back(b);
  }
  std::vector<int> out;
  for (const int reg : uses.registers()) {
    const auto is_wanted = [&](std::size_t b) { return uses.is_wanted_in(static_cast<std::size_t>(reg), b); };
    if (std::any_of(starts.begin(), starts.end(), is_wanted)) out.push_back(reg);
  }
  return out;
}

}  // namespace roofwalk::vgpu
