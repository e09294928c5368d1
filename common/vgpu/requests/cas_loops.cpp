#include "common/vgpu/requests/cas_loops.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/base/mix.h"

namespace roofwalk::vgpu {

void count_swaps(Launch& launch, Warp& warp, const Op* op, const Access& access, bool shared) {
  if (!launch.counts) return;
  constexpr std::size_t kWordHashes = 1u << 16;
  std::vector<std::uint32_t>& counts = shared ? warp.block->swaps : launch.sm->swaps;
  if (counts.empty()) counts.resize(shared ? launch.program.shared_bytes / 4 + 1 : kWordHashes);
  std::uint64_t words[kWarpSize];
  int count = 0;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1)
    words[count++] = access.of(std::countr_zero(left)) / std::max<std::uint32_t>(access.bytes, 4);
  std::sort(words, words + count);
  const auto outcome = static_cast<std::uint32_t>(warp.first_outcome + op->memory);
  for (int first = 0, last = 0; first < count; first = last) {
    while (last < count && words[last] == words[first]) ++last;
    const auto lanes = static_cast<std::uint8_t>(last - first);
    const auto hash = static_cast<std::uint32_t>(mix(words[first]));
    std::uint32_t& of_word = counts[shared ? words[first] : hash % kWordHashes];
    of_word += lanes;
    if (shared) warp.block->most_swaps = std::max(warp.block->most_swaps, of_word);
    if (warp.trace == nullptr) continue;
    warp.trace->swaps.push_back({outcome, hash, lanes, shared});
    launch.sm->traced.bytes += sizeof(Swaps);
  }
}

}  // namespace roofwalk::vgpu
