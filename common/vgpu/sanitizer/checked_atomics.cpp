// What atomics tell the race detector: on shared memory, and on global memory of accesses to shared memory.
#include <fmt/format.h>

#include <bit>

#include "common/vgpu/sanitizer/checked_access.h"
#include "common/vgpu/state/launch.h"

namespace roofwalk::vgpu {
namespace {

bool swaps(const ptx::Instruction& in) { return in.atomic == ptx::AtomicOp::cas; }

bool exchanges(const ptx::Instruction& in) { return swaps(in) || in.atomic == ptx::AtomicOp::exch || in.is_volatile; }

// Whether an atomic tells its threads how far others have got. A value that decides and picks nothing tells nothing. Of
// the others, in code with fences, any may; in other code, only if the atomic polls or has left memory unchanged.
bool shows_others(const Launch& launch, const Op* op, std::uint32_t changing) {
  const bool polls = exchanges(*op->instruction) || op->spins || changing == 0;
  return op->s[0] != kNoSlot && op->tells && (polls || launch.program.has_fences);
}

}  // namespace

bool check_atomic(Launch& launch, const Warp& warp, const Op* op, const Access& access, std::uint32_t changing) {
  const ptx::Instruction& in = *op->instruction;
  // An atomic that has changed nothing tells other threads nothing.
  const bool writes = changing != 0;
  SharedTouch touch = SharedTouch::atomic;
  if ((swaps(in) || in.is_volatile) && op->tells) {
    touch = writes ? SharedTouch::lock : SharedTouch::acquire;
  } else if (exchanges(in) && writes) {
    touch = SharedTouch::publish;
  }
  const bool learns = touch != SharedTouch::lock && shows_others(launch, op, changing);
  const SharedWrites kind{.failed = swaps(in) ? access.mask & ~changing : 0,
                          .fetches = op->s[0] != kNoSlot,
                          .learns = learns,
                          .tells = op->s[0] != kNoSlot && op->tells,
                          .relaxed = !in.releases};
  if (!check_shared(launch, warp, op, access, touch, kind)) return false;
  if (learns) warp.block->shadow->see(warp.index, access, warp.live);
  return true;
}

void pass_by_atomic(Launch& launch, const Warp& warp, const Op* op, const Access& access, std::uint32_t changing) {
  const ptx::Instruction& in = *op->instruction;
  warp.block->shadow->pass_through_global(warp.index, access, shows_others(launch, op, changing),
                                          swaps(in) ? changing : access.mask, !in.releases, warp.live);
  charge_for_clocks(launch, warp);
}

bool check_block_scope(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t address = access.of(lane);
    if (!launch.block_atomics.update(address, warp.block->linear_index, op->instruction->of_block)) continue;
    const Buffer& buffer = *launch.memory.find(address);
    launch.stop(warp, op, FaultKind::race, lane,
                fmt::format("race: updates {}[{}], which threads of another block update, too, and an atomic of block "
                            "scope (such as atomicAdd_block) is atomic for its own block only: use atomicAdd() or the "
                            "scope of the device",
                            buffer.name, (address - buffer.address) / buffer.element_bytes));
    return false;
  }
  return true;
}

}  // namespace roofwalk::vgpu
