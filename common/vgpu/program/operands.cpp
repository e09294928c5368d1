#include "common/vgpu/program/operands.h"

#include <cstdint>
#include <utility>

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

std::vector<bool> registers_that_decide(const ptx::Function& function) {
  const auto& code = function.instructions;
  // By register: the instructions that write it.
  std::vector<std::vector<std::uint32_t>> makers(function.registers.size());
  std::vector<std::uint32_t> stores;
  bool through_memory = false;  // whether a value that decides was loaded: any store may have made it
  std::vector<bool> decides(makers.size()), seen(code.size());
  std::vector<int> ahead;  // registers whose writing instructions are still to be examined
  const auto read = [&](int reg) {
    if (decides[static_cast<std::size_t>(reg)]) return;
    decides[static_cast<std::size_t>(reg)] = true;
    ahead.push_back(reg);
  };
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    for_each_result(code[pc], [&](int reg) { makers[static_cast<std::size_t>(reg)].push_back(pc); });
    const ptx::Form form = ptx::info(code[pc].opcode).form;
    if (form == ptx::Form::store) stores.push_back(pc);
    if (chooses_way(code[pc])) for_each_source(code[pc], read);
    if (code[pc].guard >= 0 && (form == ptx::Form::load || form == ptx::Form::store)) read(code[pc].guard);
  }
  while (!ahead.empty()) {
    const auto reg = static_cast<std::size_t>(ahead.back());
    ahead.pop_back();
    for (const std::uint32_t pc : makers[reg]) {
      if (!seen[pc] && !waits_for_state(code[pc])) for_each_source(code[pc], read);
      seen[pc] = true;
      const bool is_loaded = ptx::info(code[pc].opcode).form == ptx::Form::load &&
                             code[pc].space != ptx::Space::param && code[pc].space != ptx::Space::constant;
      if (!is_loaded || std::exchange(through_memory, true)) continue;
      for (const std::uint32_t store : stores) for_each_source(code[store], read);
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

}  // namespace roofwalk::vgpu
