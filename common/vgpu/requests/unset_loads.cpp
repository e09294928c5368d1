#include "common/vgpu/requests/unset_loads.h"

#include <algorithm>
#include <memory>

namespace roofwalk::vgpu {

std::size_t part_count(const ptx::Instruction& in) {
  const ptx::Operand& data = in.operands[ptx::info(in.opcode).form == ptx::Form::store ? 1 : 0];
  return data.kind == ptx::Operand::Kind::vector ? std::min(data.elements.size(), UnsetValues::kMostParts) : 1;
}

const Op* mark_unset(const Launch& launch, Warp& warp, const Op* op, const Access& access, const PartLanes& unset,
                     bool is_local, const Op* next) {
  const ptx::Operand& data = op->instruction->operands[0];
  for (std::size_t part = 0; part < part_count(*op->instruction); ++part) {
    const int reg = data.kind == ptx::Operand::Kind::vector ? data.elements[part].index : data.index;
    if (reg < 0 || unset[part] == 0) continue;
    if (warp.unset == nullptr) {
      warp.unset = std::make_shared<UnsetValues>();
      warp.unset->detour.run = launch.follow_unset;
    }
    UnsetRegister& mark = warp.unset->registers[reg];
    mark.lanes |= unset[part];
    mark.load = op;
    mark.is_local = is_local;
    mark.bytes = access.bytes;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if ((unset[part] >> lane & 1u) != 0) mark.offset[static_cast<std::size_t>(lane)] = access.of(lane);
    }
  }
  if (next == nullptr || warp.unset == nullptr) return next;
  warp.unset->next = next;
  return &warp.unset->detour;
}

}  // namespace roofwalk::vgpu
