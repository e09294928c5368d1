#include "common/vgpu/requests/ideal_sectors.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/memory/sectors.h"

namespace roofwalk::vgpu {
namespace {

// Whether all lanes are active, and their addresses ascend.
bool have_ascending_addresses(const Access& access) {
  bool ascend = access.mask == kAllLanes;
  for (int l = 1; l < kWarpSize; ++l) ascend &= access.address[l - 1] < access.address[l];
  return ascend;
}

std::uint64_t count_distinct_addresses(const Access& access) {
  std::uint64_t count = 0;
  for (std::uint32_t left = access.mask; left != 0; ++count) {
    const std::uint64_t first = access.of(std::countr_zero(left));
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (access.of(lane) == first) left &= ~(1u << lane);
    }
  }
  return count;
}

}  // namespace

std::uint64_t ideal_sectors(const Access& access) {
  constexpr std::uint64_t kWordBytes = 4;
  const auto lanes = static_cast<std::uint64_t>(std::popcount(access.mask));
  std::uint64_t bytes = access.read_bytes != 0 ? access.read_bytes : lanes * access.bytes;
  const bool may_repeat = access.bytes > kWordBytes && !access.implied && !access.contiguous && !access.uniform;
  if (may_repeat && !have_ascending_addresses(access))
    bytes = std::min(bytes, std::max(count_distinct_addresses(access) * access.bytes, lanes * kWordBytes));
  return fewest_sectors(bytes, access.total_sectors);
}

}  // namespace roofwalk::vgpu
