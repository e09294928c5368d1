#include "common/vgpu/exec/unset_step.h"

#include <algorithm>

#include "common/vgpu/exec/ops/handlers.h"

namespace roofwalk::vgpu {

using ptx::Operand;

UnsetStep::UnsetStep(Launch& launch_in, Warp& warp_in, const Op* op_in)
    : launch(launch_in),
      warp(warp_in),
      op(op_in),
      in(*op_in->instruction),
      lanes(warp_in.mask & guard_mask(warp_in, op_in)) {}

const UnsetRegister* UnsetStep::find(int reg) const {
  const auto at = warp.unset->registers.find(reg);
  return at == warp.unset->registers.end() ? nullptr : &at->second;
}

bool UnsetStep::uses(int reg, std::uint32_t in_lanes) {
  const UnsetRegister* const mark = find(reg);
  if (mark == nullptr || (mark->lanes() & in_lanes) == 0) return true;
  report_unset(launch, warp, mark->from(std::countr_zero(mark->lanes() & in_lanes)));
  return false;
}

bool UnsetStep::uses(const Operand& operand) {
  bool is_fine = true;
  for_each_register(operand, [&](int reg) { is_fine = is_fine && uses(reg, lanes); });
  return is_fine;
}

std::optional<std::uint64_t> UnsetStep::value_of(int reg, int lane) const {
  const auto r = static_cast<std::size_t>(reg);
  const Slot slot = launch.program.register_slots[r];
  if (slot == kNoSlot) return std::nullopt;
  // Code in lockstep may store lane 0 only.
  const LockstepCode& lockstep = launch.program.lockstep;
  const std::uint32_t offsets = warp.in_lockstep && !lockstep.only_lane_0.empty() ? lockstep.only_lane_0[r] : 0;
  const int stored = offsets != 0 ? 0 : lane;
  const std::uint64_t more =
      offsets != 0 ? lockstep.lane_offsets[offsets - 1].of_lane[static_cast<std::size_t>(lane)] : 0;
  switch (ptx::size_bytes(type_of(reg))) {
    case 0:
      return warp.predicate(slot) >> lane & 1u;
    case 2:
      return static_cast<std::uint16_t>(warp.lanes<std::uint16_t>(slot)[stored] + more);
    case 4:
      return static_cast<std::uint32_t>(warp.lanes<std::uint32_t>(slot)[stored] + more);
    case 8:
      return warp.lanes<std::uint64_t>(slot)[stored] + more;
    default:
      return std::nullopt;
  }
}

UnsetSource UnsetStep::source(const Operand& operand, int lane) const {
  if (operand.kind == Operand::Kind::immediate) return {.value = operand.bits, .is_known = true};
  if (operand.kind != Operand::Kind::reg) return {};
  const UnsetRegister* const mark = find(operand.index);
  const auto value = value_of(operand.index, lane);
  return {.bits = mark == nullptr ? 0 : mark->bits(lane),
          .value = operand.negated ? ~value.value_or(0) & 1 : value.value_or(0),
          .is_known = value.has_value()};
}

bool UnsetStep::is_marked(const Operand& operand) const {
  bool any = false;
  for_each_register(operand, [&](int reg) {
    const UnsetRegister* const mark = find(reg);
    any = any || (mark != nullptr && (mark->lanes() & lanes) != 0);
  });
  return any;
}

bool UnsetStep::is_any_marked(std::size_t first) const {
  return std::any_of(in.operands.begin() + static_cast<std::ptrdiff_t>(std::min(first, in.operands.size())),
                     in.operands.end(), [&](const Operand& operand) { return is_marked(operand); });
}

const UnsetOrigin& UnsetStep::origin(std::size_t first, int lane) const {
  const UnsetRegister* found = nullptr;
  for (std::size_t i = first; i < in.operands.size(); ++i) {
    for_each_register(in.operands[i], [&](int reg) {
      const UnsetRegister* const mark = find(reg);
      if (found == nullptr && mark != nullptr && (mark->lanes() >> lane & 1u) != 0) found = mark;
    });
  }
  return found->from(lane);
}

void UnsetStep::put_in(int reg, const UnsetRegister& mark) {
  const auto at = warp.unset->registers.find(reg);
  if (at == warp.unset->registers.end() && (mark.lanes() & lanes) == 0) return;
  UnsetRegister& to = at == warp.unset->registers.end() ? warp.unset->registers[reg] : at->second;
  for_lanes_of(lanes, [&](int lane) { to.put(lane, mark.bits(lane) & bits_of_type(type_of(reg)), mark.from(lane)); });
  if (to.lanes() == 0) warp.unset->registers.erase(reg);
}

}  // namespace roofwalk::vgpu
