#include "common/vgpu/program/program.h"

#include <algorithm>
#include <map>
#include <set>

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
  std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
  for (const std::uint64_t offset : of_lane) words_of_bank[offset / 4 % 32].insert(offset / 4);
  for (const auto& [bank, words] : words_of_bank) {
    out.word_wavefronts = std::max<std::uint64_t>(out.word_wavefronts, words.size());
  }
  return out;
}

}  // namespace roofwalk::vgpu
