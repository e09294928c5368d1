#include "common/vgpu/memory/l1_cache.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <numeric>

#include "common/vgpu/memory/ways.h"

namespace roofwalk::vgpu {

namespace {

// Kept, because they take longer than a small launch.
const std::vector<std::uint32_t>& steps_of(std::size_t sets) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::size_t, std::vector<std::uint32_t>>;  // no thread outlives it
  const std::lock_guard lock(mutex);
  std::vector<std::uint32_t>& steps = (*known)[sets];
  if (!steps.empty()) return steps;
  for (std::uint32_t step = 1; step <= sets; ++step) {
    if (std::gcd(step, static_cast<std::uint32_t>(sets)) == 1) steps.push_back(step);
  }
  return steps;
}

}  // namespace

L1Cache::L1Cache(std::int64_t size_bytes, int ways)
    : sets_(sets_of(size_bytes, ways)),
      divides_(!std::has_single_bit(sets_)),
      set_bits_(std::countr_zero(sets_)),
      steps_(&steps_of(sets_)),
      ways_(ways) {}

void L1Cache::open() {
  if (!tags_.empty()) return;
  const std::size_t lines = sets_ * static_cast<std::size_t>(ways_);
  tags_.assign(lines, ~0ull);
  states_.assign(lines, 0);
  fetched_by_.assign(lines, 0);
  hints_.assign(std::size_t{1} << kHintBits, 0);
}

void L1Cache::read_group(const std::uint64_t (&lines)[kGroupLines], const std::uint8_t (&sectors)[kGroupLines],
                         std::uint8_t (&missing)[kGroupLines]) {
  forget_group();
  for (int i = 0; i < kGroupLines; ++i) {
    const std::uint32_t slot = locate(lines[i]);
    const std::uint64_t valid = states_[slot] & kFlags;
    states_[slot] = ++clock_ << kStampShift | valid | sectors[i];
    missing[i] = static_cast<std::uint8_t>(sectors[i] & ~valid);
    if (missing[i] != 0) fetched_by_[slot] = fetch_;
    group_.line[i] = lines[i];
    group_.slot[i] = slot;
  }
  // The group is unusable if its lines evicted each other.
  for (int i = 0; i < kGroupLines; ++i) {
    if (tags_[group_.slot[i]] != lines[i]) return;
  }
  group_.used = 1;
  group_.all_valid = 0xf;
  group_.step = lines[1] - lines[0];
  for (int i = 0; i < kGroupLines; ++i) {
    std::uint64_t& state = states_[group_.slot[i]];
    group_.valid[i] = static_cast<std::uint8_t>(state & kFlags);
    group_.all_valid &= group_.valid[i];
    state |= kInGroup;
    if (lines[i] != lines[0] + static_cast<std::uint64_t>(i) * group_.step) group_.step = 0;
  }
}

void L1Cache::forget_group() {
  if (group_.used == 0) return;
  settle_group();
  group_.used = 0;
  for (const std::uint32_t slot : group_.slot) states_[slot] &= ~kInGroup;
}

std::uint32_t L1Cache::find_or_allocate(std::uint64_t line) {
  const std::size_t first = set_of(line) * ways_;
  if (const int way = find_way(&tags_[first], ways_, line); way >= 0) {
    return static_cast<std::uint32_t>(first + static_cast<std::size_t>(way));
  }
  settle_group();
  const std::size_t victim = first + static_cast<std::size_t>(find_oldest(&states_[first], ways_, kStampShift));
  if ((states_[victim] & kInGroup) != 0) forget_group();
  tags_[victim] = line;
  states_[victim] = 0;
  return static_cast<std::uint32_t>(victim);
}

std::uint32_t L1Cache::fetch_of(std::uint64_t line) const {
  const std::uint32_t hint = hints_[hint_of(line)];
  if (tags_[hint] == line) return fetched_by_[hint];
  const std::size_t first = set_of(line) * ways_;
  const int way = find_way(&tags_[first], ways_, line);
  return way < 0 ? 0 : fetched_by_[first + static_cast<std::size_t>(way)];
}

void L1Cache::empty() {
  forget_group();
  for (std::uint64_t& state : states_) state = state >> kStampShift << kStampShift;
}

void L1Cache::drop(std::uint64_t line) {
  const std::size_t first = set_of(line) * ways_;
  for (std::size_t i = first; i < first + ways_; ++i) {
    if (tags_[i] != line) continue;
    if ((states_[i] & kInGroup) != 0) forget_group();
    states_[i] = states_[i] >> kStampShift << kStampShift;
  }
}

}  // namespace roofwalk::vgpu
