// Vector clocks: how barriers, locks, fences, mbarriers and asynchronous copies order the warps of a block.
#include <algorithm>
#include <bit>

#include "common/vgpu/sanitizer/race_detector.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {

namespace {

// Returns the bytes of a lock without its rows of lanes: a node of the map, and a clock per warp.
std::size_t lock_bytes(std::size_t warps) { return 96 + warps * sizeof(Clock); }

// Returns the time up to which a lane knows what another lane of its warp did, apart from what all lanes know.
Clock known_of(const std::vector<Clock>& met, std::size_t lane, std::size_t other) {
  return met.empty() ? 0 : std::max<Clock>(met[lane * kWarpSize + other], 1) - 1;
}

// Each of these lanes is now ordered after everything that any of them did or was ordered after.
void meet_at(Clock now, std::uint32_t lanes, std::vector<Clock>& met) {
  if (met.empty()) met.assign(std::size_t{kWarpSize} * kWarpSize, 0);
  Clock known[kWarpSize] = {};
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1u) == 0) continue;
    for (std::size_t other = 0; other < kWarpSize; ++other)
      known[other] = std::max(known[other], met[lane * kWarpSize + other]);
    known[lane] = now;
  }
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1u) != 0) std::copy_n(known, kWarpSize, &met[lane * kWarpSize]);
  }
}

// A lane learns of another one what that did before time `told`, and what that has learned itself. Returns whether that
// was news.
bool learn_at(Clock told, int lane, int other, std::vector<Clock>& met) {
  const auto row = static_cast<std::size_t>(lane * kWarpSize), from = static_cast<std::size_t>(other * kWarpSize);
  const std::size_t place = row + static_cast<std::size_t>(other);
  if (met.empty()) met.assign(std::size_t{kWarpSize} * kWarpSize, 0);
  if (told <= met[place]) return false;
  for (std::size_t third = 0; third < kWarpSize; ++third)
    met[row + third] = std::max(met[row + third], std::min(told, met[from + third]));
  met[place] = told;
  return true;
}

}  // namespace

void RaceDetector::prove_fenced(const WarpClocks& clocks, std::uint32_t warp, int lane, Knowledge& lock) {
  if (clocks.fenced.warps.empty()) return;
  lock.prove(clocks.fenced);
  if (clocks.fenced_lanes.empty()) return;
  const Clock own = clocks.fenced_lanes[static_cast<std::size_t>(lane)][static_cast<std::size_t>(lane)];
  lock.proven[warp] = std::max(lock.proven[warp], own);
}

Knowledge& RaceDetector::lock_of(std::size_t word) {
  const auto [at, is_new] = locks_.try_emplace(are_locks_one_ ? 0 : word);
  if (is_new) {
    at->second = Knowledge(warps_.size());
    lock_bytes_ += lock_bytes(warps_.size());
  }
  return at->second;
}

void RaceDetector::count_lock(const Knowledge& lock, std::size_t rows_before) {
  lock_bytes_ += (lock.rows() - rows_before) * sizeof(LaneClocks);
  if (lock_bytes_ <= most_lock_bytes_ || are_locks_one_) return;
  // From now on, whoever acquires a lock learns what all locks have published.
  Knowledge all(warps_.size());
  for (const auto& [word, each] : locks_) work_ += work::kJoined + work::kJoinedRow * all.join(each);
  locks_ = {};
  locks_.emplace(0, std::move(all));
  own_times_.become_one();
  are_locks_one_ = true;
}

void RaceDetector::forget_locks() {
  if (locks_.empty()) return;
  locks_ = {};  // clear() would visit every bucket of a map that was once large
  own_times_.clear();
  lock_bytes_ = 0;
  are_locks_one_ = false;
}

void RaceDetector::release_own(std::size_t word, std::uint32_t warp, int lane, Clock time, Clock passed_on) {
  WarpClocks& clocks = warps_[warp];
  lock_bytes_ += own_times_.release(are_locks_one_ ? 0 : word, warp, lane, time, passed_on);
  clocks.publishers |= 1u << lane;
  Clock& published = clocks.published[static_cast<std::size_t>(lane)];
  published = std::max(published, time);
  work_ += work::kJoined;
}

bool RaceDetector::order_by_lock(std::uint32_t warp, int lane, std::size_t word, SharedTouch touch, bool relaxed) {
  WarpClocks& clocks = warps_[warp];
  Knowledge& lock = lock_of(word);
  const std::size_t rows = lock.rows();
  bool is_news = false;
  if (touch != SharedTouch::publish) {
    is_news = learn_of_own(warp, lane, word);
    work_ += work::kJoinedRow * clocks.known.join(lock);
    clocks.learned = true;
  }
  if (touch == SharedTouch::acquire) return is_news;
  release_own(word, warp, lane, clocks.now, lock.warps[warp]);
  own_times_.pass_on(are_locks_one_ ? 0 : word, warp, clocks.known);
  work_ += work::kJoined + work::kJoinedRow * lock.join(clocks.known, !relaxed);
  if (!relaxed) {
    lock.set(warp, clocks.now);
  } else {
    lock.warps[warp] = clocks.now;
    prove_fenced(clocks, warp, lane, lock);
  }
  ++clocks.now;
  count_lock(lock, rows);
  return is_news;
}

bool RaceDetector::learn_of_own(std::uint32_t warp, int lane, std::size_t word) {
  WarpClocks& clocks = warps_[warp];
  const std::uint32_t others = clocks.publishers & ~(1u << lane);
  const auto at = locks_.find(are_locks_one_ ? 0 : word);
  if (others == 0 || at == locks_.end()) return false;
  const Knowledge& lock = at->second;
  if (lock.rows() == 0 && lock.warps[warp] < std::max<Clock>(clocks.synced, 1)) return false;
  work_ += work::kJoined;
  const OwnTimes* const own = own_times_.find(are_locks_one_ ? 0 : word, warp);
  const Clock from_others = own == nullptr ? lock.warps[warp] : own->from_others;
  std::size_t news = 0;
  for (std::uint32_t left = others; left != 0; left &= left - 1) {
    const int other = std::countr_zero(left);
    const auto lane_of = static_cast<std::size_t>(other);
    // Other warps pass on a time of the warp, not which lanes had published by then.
    Clock released = std::max(std::min(from_others, clocks.published[lane_of]), lock.of_single_lane(warp, other));
    if (own != nullptr) released = std::max(released, own->lanes[lane_of]);
    const Clock told = released + 1;
    if (told == 1) continue;
    if (told > clocks.met) news += learn_at(told, lane, other, clocks.lanes);
    if (clocks.exchanged && told > clocks.synced) news += learn_at(told, lane, other, clocks.synced_lanes);
  }
  work_ += work::kJoinedRow * news;
  return news != 0;
}

void RaceDetector::meet_if_all_know(std::uint32_t warp) {
  WarpClocks& clocks = warps_[warp];
  Clock least = ~Clock{0}, most = 0;
  for (std::size_t i = 0; i < clocks.lanes.size(); ++i) {
    if (i % (kWarpSize + 1) == 0) continue;  // a lane of itself
    least = std::min(least, clocks.lanes[i]);
    most = std::max(most, clocks.lanes[i]);
  }
  work_ += work::kMetLane * kWarpSize;
  if (least != most) return;
  clocks.met = std::max(clocks.met, least);
  clocks.lanes.clear();
  if (!clocks.exchanged) clocks.synced = clocks.met;
}

void RaceDetector::fence(std::uint32_t warp, std::uint32_t lanes, std::uint32_t live) {
  WarpClocks& clocks = warps_[warp];
  Knowledge fenced = clocks.known;
  // Drops what this warp has learned from other warps about single lanes of its own, because not every lane may publish
  // that.
  std::size_t rows = fenced.forget_lanes(warp);
  if (lanes == live) {
    fenced.set(warp, clocks.now);
    clocks.fenced_lanes.clear();
  } else {
    // What other lanes published by earlier fences stays published.
    if (!clocks.fenced.warps.empty()) rows += fenced.join(clocks.fenced);
    fenced.raise(warp, std::max<Clock>(clocks.met, 1) - 1);
    clocks.fenced_lanes.resize(kWarpSize);
    for (std::uint32_t left = lanes; left != 0; left &= left - 1, ++rows) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      LaneClocks& own = clocks.fenced_lanes[lane];
      // A lane that has met others of its warp publishes what they did before, too.
      for (std::size_t other = 0; other < kWarpSize; ++other)
        own[other] = std::max(own[other], known_of(clocks.lanes, lane, other));
      own[lane] = clocks.now;
    }
  }
  work_ += work::kJoined + work::kJoinedRow * rows;
  ++clocks.now;
  clocks.fenced = std::move(fenced);
}

void RaceDetector::publish(std::uint32_t warp, int lane, std::size_t word) {
  const WarpClocks& clocks = warps_[warp];
  if (clocks.fenced.warps.empty()) return;
  Knowledge& lock = lock_of(word);
  const std::size_t rows = lock.rows();
  Clock fenced = clocks.fenced.warps[warp];
  // Each lane publishes only what it has fenced itself, not what only other lanes of its warp have fenced.
  const LaneClocks* own = nullptr;
  if (!clocks.fenced_lanes.empty()) {
    own = &clocks.fenced_lanes[static_cast<std::size_t>(lane)];
    fenced = std::max(fenced, (*own)[static_cast<std::size_t>(lane)]);
  }
  release_own(word, warp, lane, fenced, lock.warps[warp]);
  own_times_.pass_on(are_locks_one_ ? 0 : word, warp, clocks.fenced);
  work_ += work::kJoinedRow * lock.join(clocks.fenced);
  if (own != nullptr && (*own)[static_cast<std::size_t>(lane)] != 0)
    work_ += work::kJoinedRow * lock.join_lanes(warp, *own);
  count_lock(lock, rows);
}

void RaceDetector::see(std::uint32_t warp, const Access& access) {
  WarpClocks& clocks = warps_[warp];
  const Knowledge* last = nullptr;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const std::size_t word = access.of(std::countr_zero(left)) >> word_shift_;
    const auto lock = locks_.find(are_locks_one_ ? 0 : word);
    if (lock == locks_.end() || &lock->second == last) continue;
    last = &lock->second;
    work_ += work::kJoined + work::kJoinedRow * clocks.known.join(*last);
    clocks.learned = true;
  }
}

void RaceDetector::come_to_barrier(int barrier, std::uint32_t warp) {
  Knowledge& known = barriers_[barrier];
  work_ += work::kJoinedRow * known.join(warps_[warp].known);
  known.set(warp, warps_[warp].now++);
}

void RaceDetector::leave_barrier(int barrier, std::span<const std::uint32_t> waiting,
                                 std::span<const std::uint32_t> gone) {
  Knowledge& known = barriers_[barrier];
  for (const std::uint32_t warp : gone) {
    work_ += work::kJoinedRow * known.join(warps_[warp].known);
    known.raise(warp, warps_[warp].now);
  }
  for (const std::uint32_t warp : waiting) {
    work_ += work::kJoinedRow * warps_[warp].known.join(known);
    meet_in_warp(warp);
  }
  const bool all = waiting.size() + gone.size() == warps_.size();
  for (const std::uint32_t warp : waiting) warps_[warp].learned = !all;
  if (all) forget_what_all_know();
  known.clear();
}

void RaceDetector::forget_what_all_know() {
  whole_block_met_ = next_id();
  forget_locks();
  for (WarpClocks& clocks : warps_) {
    clocks.known.forget_lanes();
    clocks.fenced = Knowledge();
    clocks.fenced_lanes.clear();
    clocks.publishers = 0;
    clocks.published = {};
  }
}

void RaceDetector::meet_in_warp(std::uint32_t warp, std::uint32_t lanes, bool exchange) {
  WarpClocks& clocks = warps_[warp];
  const Clock now = ++clocks.now;
  if (exchange && !clocks.exchanged) {
    clocks.exchanged = true;
    clocks.synced_lanes = clocks.lanes;
  }
  if (lanes == kAllLanes) {
    clocks.met = now;
    clocks.lanes.clear();
    if (exchange) return;
    clocks.synced = now;
    clocks.synced_id = next_id();
    clocks.exchanged = false;
    clocks.synced_lanes.clear();
    return;
  }
  work_ += work::kMetLane * static_cast<std::uint64_t>(std::popcount(lanes));
  meet_at(now, lanes, clocks.lanes);
  if (clocks.exchanged && !exchange) meet_at(now, lanes, clocks.synced_lanes);
}

void RaceDetector::begin_mbarrier(std::uint64_t byte) {
  const Knowledge nothing(warps_.size());
  mbarriers_[byte] = {nothing, nothing};
}

void RaceDetector::end_mbarrier(std::uint64_t byte) { mbarriers_.erase(byte); }

std::size_t RaceDetector::tell_of_own(const WarpClocks& clocks, std::uint32_t warp, std::uint32_t lanes,
                                      Knowledge& to) const {
  to.raise(warp, std::max<Clock>(clocks.met, 1) - 1);
  LaneClocks own{};
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    for (std::size_t other = 0; other < kWarpSize; ++other)
      own[other] = std::max(own[other], known_of(clocks.lanes, lane, other));
    own[lane] = std::min(clocks.now, clocks.touched);
  }
  return to.join_lanes(warp, own);
}

void RaceDetector::arrive(std::uint64_t byte, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live,
                          bool copies) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  WarpClocks& clocks = warps_[warp];
  Mbarrier& barrier = at->second;
  if (lanes == live) {
    work_ += work::kJoinedRow * barrier.arriving.join(clocks.known);
    barrier.arriving.set(warp, clocks.now);
  } else {
    // What others have told this warp about single lanes of its own is not for every lane to pass on.
    Knowledge known = clocks.known;
    std::size_t rows = known.forget_lanes(warp);
    rows += barrier.arriving.join(known);
    rows += tell_of_own(clocks, warp, lanes, barrier.arriving);
    work_ += work::kMetLane * static_cast<std::uint64_t>(std::popcount(lanes)) + work::kJoinedRow * rows;
  }
  if (mbarriers_.size() > kMbarriersWithLanes) barrier.arriving.blur_lanes();
  ++clocks.now;
  if (!copies) return;
  clocks.copies.for_each(lanes, [&](CopyGroups::Part& part) {
    part.arrived = ++part.closed;
    barrier.arriving.copies.add(warp, part.lanes, part.closed);
  });
  work_ += work::kMetLane * (clocks.copies.parts() - 1);
}

void RaceDetector::complete(std::uint64_t byte) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  Mbarrier& barrier = at->second;
  // A phase ends behind all earlier ones.
  work_ += work::kMetLane * barrier.arriving.copies.join(barrier.arrived.copies);
  std::swap(barrier.arrived, barrier.arriving);
  barrier.arriving.clear();
}

void RaceDetector::acquire(std::uint64_t byte, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  WarpClocks& clocks = warps_[warp];
  const Knowledge& arrived = at->second.arrived;
  work_ += work::kJoinedRow * clocks.known.join(arrived);
  clocks.learned = true;
  if (lanes == live) {
    for (Clock* const own : {&clocks.met, &clocks.synced}) *own = std::max(*own, arrived.warps[warp] + 1);
  }
  // What lanes of the warp told one by one.
  std::size_t news = 0;
  for (int other = 0; other < kWarpSize && (lanes != live || arrived.rows() != 0); ++other) {
    const Clock told = arrived.of_lane(warp, other) + 1;
    if (told <= std::min(clocks.met, clocks.synced)) continue;
    for (std::uint32_t left = lanes & ~(1u << other); left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (told > clocks.met) news += learn_at(told, lane, other, clocks.lanes);
      if (clocks.exchanged && told > clocks.synced) news += learn_at(told, lane, other, clocks.synced_lanes);
    }
  }
  work_ += work::kJoinedRow * news;
  if (news != 0) meet_if_all_know(warp);
}

void RaceDetector::commit_copies(std::uint32_t warp, std::uint32_t lanes) {
  CopyGroups& copies = warps_[warp].copies;
  copies.for_each(lanes, [](CopyGroups::Part& part) { part.groups.push_back(++part.closed); });
  work_ += work::kMetLane * (copies.parts() - 1);
}

void RaceDetector::wait_for_copies(std::uint32_t warp, std::uint32_t lanes, std::uint32_t left) {
  WarpClocks& clocks = warps_[warp];
  clocks.copies.for_each(lanes, [&](CopyGroups::Part& part) {
    if (part.groups.size() <= left) return;
    part.end(part.groups[part.groups.size() - 1 - left], clocks.now);
    clocks.touched = clocks.now;
  });
  work_ += work::kMetLane * (clocks.copies.parts() - 1);
}

void RaceDetector::wait_for_all_copies(std::uint32_t warp, std::uint32_t lanes) {
  commit_copies(warp, lanes);
  wait_for_copies(warp, lanes, 0);
}

}  // namespace roofwalk::vgpu
