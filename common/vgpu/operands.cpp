#include "common/vgpu/operands.h"

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
