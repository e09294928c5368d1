#include "common/vgpu/requests/read_only_loads.h"

#include <fmt/format.h>

namespace roofwalk::vgpu {

bool check_unstored(Launch& launch, const Warp& warp, const Op* op, const Access& access) {
  if (!launch.sanitized || launch.memory.surely_defined(access.low, access.high - access.low + access.bytes, true))
    return true;
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0 || !launch.memory.has_stored(access.of(l), access.bytes)) continue;
    const Buffer& buffer = *launch.memory.find(access.of(l));
    const std::uint64_t index = (access.of(l) - buffer.address) / buffer.element_bytes;
    launch.stop(warp, op, FaultKind::race, l,
                fmt::format("race: reads {}[{}] by __ldg(), or by a pointer that is const and __restrict__, but this "
                            "launch has written it: such a load may find what was there before, so load it plainly",
                            buffer.name, index));
    launch.fault->buffer = buffer.name;
    launch.fault->index = static_cast<std::int64_t>(index);
    launch.fault->extent = buffer.size_bytes / buffer.element_bytes;
    return false;
  }
  return true;
}

}  // namespace roofwalk::vgpu
