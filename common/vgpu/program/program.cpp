#include "common/vgpu/program/program.h"

#include <algorithm>

namespace roofwalk::vgpu {

LaneOffsets make_lane_offsets(const std::array<std::uint64_t, kWarpSize>& of_lane) {
  LaneOffsets out;
  out.of_lane = of_lane;
  out.stride = of_lane[1] - of_lane[0];
  out.even = out.even_eights = true;
  out.stride_of_eights = out.stride;
  for (std::size_t l = 0; l < of_lane.size(); ++l) {
    const auto step = static_cast<std::int64_t>(of_lane[l]);
    out.low = std::min(out.low, step);
    out.high = std::max(out.high, step);
    out.even &= of_lane[l] == l * out.stride;
    out.bits |= of_lane[l];
    out.even_eights &= of_lane[l] == of_lane[l / 8 * 8] + l % 8 * out.stride;
  }
  return out;
}

}  // namespace roofwalk::vgpu
