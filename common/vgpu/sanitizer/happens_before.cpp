// Vector clocks: what a warp knows of the others, and what barriers, locks, fences, mbarriers and asynchronous copies
// make it know.
#include <algorithm>
#include <bit>

#include "common/vgpu/sanitizer/shared_shadow.h"

namespace roofwalk::vgpu {

void SharedShadow::join(std::vector<Clock>& into, const std::vector<Clock>& from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

void SharedShadow::order_by_lock(std::uint32_t warp, std::size_t word, SharedTouch touch) {
  WarpClocks& clocks = warps_[warp];
  std::vector<Clock>& lock = locks_.try_emplace(word, warps_.size()).first->second;
  if (touch != SharedTouch::publish) {
    join(clocks.known, lock);
    clocks.learned = true;
  }
  if (touch == SharedTouch::acquire) return;
  join(lock, clocks.known);
  lock[warp] = clocks.now++;
}

void SharedShadow::fence(std::uint32_t warp, bool all_lanes) {
  WarpClocks& clocks = warps_[warp];
  clocks.fenced = clocks.known;
  // Some lanes know of the others what came before all met.
  clocks.fenced[warp] = all_lanes ? clocks.now++ : std::max<Clock>(clocks.met, 1) - 1;
}

void SharedShadow::see(std::uint32_t warp, const Access& access) {
  WarpClocks& clocks = warps_[warp];
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lock = locks_.find(access.of(std::countr_zero(left)) >> word_shift_);
    if (lock == locks_.end()) continue;
    join(clocks.known, lock->second);
    clocks.learned = true;
  }
}

void SharedShadow::come_to_barrier(int barrier, std::uint32_t warp) {
  std::vector<Clock>& known = barriers_[barrier];
  join(known, warps_[warp].known);
  known[warp] = warps_[warp].now++;
}

void SharedShadow::leave_barrier(int barrier, std::span<const std::uint32_t> waiting,
                                 std::span<const std::uint32_t> gone) {
  std::vector<Clock>& known = barriers_[barrier];
  for (const std::uint32_t warp : gone) {
    join(known, warps_[warp].known);
    known[warp] = std::max(known[warp], warps_[warp].now);
  }
  for (const std::uint32_t warp : waiting) {
    join(warps_[warp].known, known);
    meet_in_warp(warp);
  }
  const bool all = waiting.size() + gone.size() == warps_.size();
  if (all) whole_block_met_ = next_id();
  for (const std::uint32_t warp : waiting) warps_[warp].learned = !all;
  known.assign(warps_.size(), 0);
}

void SharedShadow::meet_in_warp(std::uint32_t warp, std::uint32_t lanes) {
  WarpClocks& clocks = warps_[warp];
  const Clock now = ++clocks.now;
  if (lanes == kAllLanes) {
    clocks.met = now;
    clocks.met_id = next_id();
    clocks.lanes.clear();
    return;
  }
  if (clocks.lanes.empty()) clocks.lanes.assign(std::size_t{kWarpSize} * kWarpSize, 0);
  // Each of them knows from now on what any of them knew, and what all of them did.
  Clock known[kWarpSize] = {};
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    for (std::size_t other = 0; other < kWarpSize; ++other)
      known[other] = std::max(known[other], clocks.lanes[lane * kWarpSize + other]);
    known[lane] = now;
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1u) != 0) std::copy_n(known, kWarpSize, &clocks.lanes[lane * kWarpSize]);
  }
}

void SharedShadow::begin_mbarrier(std::uint64_t byte) {
  const std::vector<Clock> nothing(warps_.size());
  mbarriers_[byte] = {nothing, nothing, {}};
}

void SharedShadow::end_mbarrier(std::uint64_t byte) { mbarriers_.erase(byte); }

void SharedShadow::arrive(std::uint64_t byte, std::uint32_t warp, bool copies) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  WarpClocks& clocks = warps_[warp];
  join(at->second.arriving, clocks.known);
  at->second.arriving[warp] = clocks.now++;
  if (!copies) return;
  commit_copies(warp);
  at->second.copies.emplace_back(warp, clocks.committed);
}

void SharedShadow::complete(std::uint64_t byte) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  Mbarrier& barrier = at->second;
  for (const auto& [warp, groups] : barrier.copies) {
    WarpClocks& clocks = warps_[warp];
    while (clocks.waited.size() < groups) clocks.waited.push_back(barrier.arriving[warp]);
  }
  barrier.copies.clear();
  barrier.arrived = barrier.arriving;
  std::fill(barrier.arriving.begin(), barrier.arriving.end(), 0);
}

void SharedShadow::acquire(std::uint64_t byte, std::uint32_t warp) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  join(warps_[warp].known, at->second.arrived);
  warps_[warp].learned = true;
  warps_[warp].met = std::max(warps_[warp].met, at->second.arrived[warp] + 1);
}

void SharedShadow::commit_copies(std::uint32_t warp) { ++warps_[warp].committed; }

void SharedShadow::wait_for_copies(std::uint32_t warp, std::uint32_t left) {
  WarpClocks& clocks = warps_[warp];
  while (clocks.waited.size() + left < clocks.committed) clocks.waited.push_back(clocks.now);
}

void SharedShadow::wait_for_all_copies(std::uint32_t warp) {
  commit_copies(warp);
  wait_for_copies(warp, 0);
}

}  // namespace roofwalk::vgpu
