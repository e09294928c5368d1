#include "common/vgpu/program/operands.h"

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

bool decides_way(const ptx::Function& function, const ptx::Instruction& instruction) {
  std::vector<bool> made(function.registers.size());
  bool grows = true;
  const auto add = [&](int reg) {
    if (made[static_cast<std::size_t>(reg)]) return;
    made[static_cast<std::size_t>(reg)] = grows = true;
  };
  for_each_result(instruction, add);
  while (std::exchange(grows, false)) {
    for (const ptx::Instruction& in : function.instructions) {
      bool reads = false;
      for_each_source(in, [&](int reg) { reads |= made[static_cast<std::size_t>(reg)]; });
      if (!reads) continue;
      if (chooses_way(in)) return true;
      for_each_result(in, add);
    }
  }
  return false;
}

std::vector<bool> registers_across_blocks(const ptx::Function& function, const std::vector<BasicBlock>& blocks) {
  std::vector<bool> crosses(function.registers.size());
  std::vector<std::uint32_t> home(crosses.size(), kExitBlock);  // the only block that touches it, so far
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    for (std::uint32_t pc = blocks[b].first; pc < blocks[b].first + blocks[b].count; ++pc) {
      const ptx::Instruction& in = function.instructions[pc];
      const auto read = [&](int reg) {
        if (home[reg] != b) crosses[reg] = true;
      };
      for_each_source(in, read);
      if (in.guard >= 0) for_each_result(in, read);  // what lanes keep that it skips
      for_each_result(in, [&](int reg) {
        if (home[reg] != kExitBlock && home[reg] != b) crosses[reg] = true;
        home[reg] = b;
      });
    }
  }
  return crosses;
}

}  // namespace roofwalk::vgpu
