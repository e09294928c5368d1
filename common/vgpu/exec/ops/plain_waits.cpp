#include "common/vgpu/exec/ops/plain_waits.h"

#include <bit>

#include "common/vgpu/exec/ops/handlers.h"

namespace roofwalk::vgpu {

const Op* op_plain_wait(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t again = warp.mask & guard_mask(warp, op);
  if (again == 0) return op + 1;
  return launch.stop(
      warp, op, FaultKind::race, std::countr_zero(again),
      "race: this loop waits for what another thread stores, by a plain load: the compiler may load once "
      "and drop the loop, so load by volatile or cuda::atomic_ref");
}

}  // namespace roofwalk::vgpu
