#include "common/vgpu/memory/constant_cache.h"

#include <algorithm>

namespace roofwalk::vgpu {
namespace {

constexpr std::uint64_t kNoLine = ~0ull;

// Replaces a missing figure by 1: machine files that are used only for planning do not describe these caches.
std::size_t at_least_one(int figure) { return static_cast<std::size_t>(std::max(figure, 1)); }

}  // namespace

ConstantCache::Lines::Lines(int size_bytes, int bytes_of_line, int ways_in)
    : line_bytes(at_least_one(bytes_of_line)),
      ways(at_least_one(ways_in)),
      sets(std::max<std::size_t>(at_least_one(size_bytes) / line_bytes / ways, 1)) {}

void ConstantCache::Lines::open() {
  tags.assign(sets * ways, kNoLine);
  used.assign(sets * ways, 0);
  came.assign(sets * ways, 0);
}

bool ConstantCache::Lines::look_up(std::uint64_t place, std::uint32_t round) {
  const std::uint64_t line = place / line_bytes;
  const std::size_t first = line % sets * ways;
  std::size_t victim = first;
  for (std::size_t at = first; at < first + ways; ++at) {
    if (tags[at] == line) {
      used[at] = ++clock;
      return true;
    }
    if (used[at] < used[victim]) victim = at;
  }
  tags[victim] = line;
  used[victim] = ++clock;
  came[victim] = round;
  return false;
}

ConstantCache::ConstantCache(const Machine& m)
    : first_(m.constant_l1_bytes, m.constant_l1_line_bytes, m.constant_l1_ways),
      second_(m.constant_l15_bytes, m.constant_l15_line_bytes, m.constant_l15_ways) {}

void ConstantCache::open() {
  if (!marked_.empty()) return;
  first_.open();
  second_.open();
  marked_.assign(kMarks, 0);
}

ConstantCache::Level ConstantCache::read(std::uint64_t place) {
  if (first_.look_up(place, round_)) return Level::first;
  return second_.look_up(place, round_) ? Level::second : Level::l2;
}

bool ConstantCache::came_this_round(std::uint64_t place) const {
  const std::uint64_t line = place / second_.line_bytes;
  const std::size_t first = line % second_.sets * second_.ways;
  for (std::size_t at = first; at < first + second_.ways; ++at) {
    if (second_.tags[at] == line) return second_.came[at] == round_;
  }
  return false;
}

}  // namespace roofwalk::vgpu
