// What fences order: an atomic, or a volatile or relaxed store, publishes what its lane has fenced.
#include <algorithm>
#include <bit>

#include "common/vgpu/sanitizer/race_detector.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {

LaneClocks RaceDetector::fenced_by(const WarpClocks& clocks, int lane) {
  const auto l = static_cast<std::size_t>(lane);
  LaneClocks own = clocks.fenced_lanes.empty() ? LaneClocks{} : clocks.fenced_lanes[l];
  own[l] = std::max(own[l], clocks.fenced_each);
  return own;
}

void RaceDetector::fence(std::uint32_t warp, std::uint32_t lanes, std::uint32_t live) {
  WarpClocks& clocks = warps_[warp];
  Knowledge fenced = clocks.known;
  // Drops what this warp has learned from other warps about single lanes of its own, because not every lane may publish
  // that.
  std::size_t rows = fenced.forget_lanes(warp) + clocks.apart.tell(lanes, fenced);
  const Clock met = std::max<Clock>(clocks.met, 1) - 1;
  if (lanes == live && (clocks.touchers == 0 || clocks.lanes.empty())) {
    clocks.fenced_lanes.clear();
    if (clocks.touchers == 0) {
      fenced.set(warp, clocks.now);
      clocks.fenced_each = 0;
    } else {  // another lane may not have come to its own fence yet when a lane publishes
      fenced.raise(warp, met);
      clocks.fenced_each = clocks.now;
    }
  } else {
    // What other lanes published by earlier fences stays published.
    if (!clocks.fenced.warps.empty()) rows += fenced.join(clocks.fenced);
    fenced.raise(warp, met);
    clocks.fenced_lanes.resize(kWarpSize);
    for (std::uint32_t left = lanes; left != 0; left &= left - 1, ++rows) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      LaneClocks& own = clocks.fenced_lanes[lane];
      // A lane that has met others of its warp publishes what they did before, too.
      for (std::size_t other = 0; other < kWarpSize; ++other) {
        const Clock known = clocks.lanes.empty() ? 0 : clocks.lanes[lane * kWarpSize + other];
        own[other] = std::max(own[other], std::max<Clock>(known, 1) - 1);
      }
      own[lane] = clocks.now;
    }
  }
  work_ += work::kJoined + work::kJoinedRow * rows;
  ++clocks.now;
  clocks.fenced = std::move(fenced);
}

void RaceDetector::share_fences(WarpClocks& clocks, std::uint32_t warp, std::uint32_t lanes) {
  if (lanes == kAllLanes && clocks.fenced_lanes.empty()) {
    clocks.fenced.raise(warp, clocks.fenced_each);
    clocks.fenced_each = 0;
    return;
  }
  LaneClocks of_any{};
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const LaneClocks own = fenced_by(clocks, std::countr_zero(left));
    for (std::size_t other = 0; other < kWarpSize; ++other) of_any[other] = std::max(of_any[other], own[other]);
  }
  work_ += work::kMetLane * static_cast<std::uint64_t>(std::popcount(lanes));
  if (lanes == kAllLanes) {
    work_ += work::kJoinedRow * clocks.fenced.join_lanes(warp, of_any);
    clocks.fenced_each = 0;
    clocks.fenced_lanes.clear();
    return;
  }
  clocks.fenced_lanes.resize(kWarpSize);
  for (std::uint32_t left = lanes; left != 0; left &= left - 1)
    clocks.fenced_lanes[static_cast<std::size_t>(std::countr_zero(left))] = of_any;
}

void RaceDetector::publish(std::uint32_t warp, int lane, std::size_t word) {
  const WarpClocks& clocks = warps_[warp];
  if (clocks.fenced.warps.empty()) return;
  Knowledge& lock = lock_of(word);
  const std::size_t rows = lock.rows();
  work_ += work::kJoined + work::kJoinedRow * lock.join(clocks.fenced);
  // Each lane publishes only what it has fenced itself, not what only other lanes of its warp have fenced.
  const LaneClocks own = fenced_by(clocks, lane);
  if (own[static_cast<std::size_t>(lane)] != 0) work_ += work::kJoinedRow * lock.join_lanes(warp, own);
  count_lock(lock, rows);
}

void RaceDetector::prove_fenced(std::uint32_t warp, int lane, Knowledge& lock) {
  const WarpClocks& clocks = warps_[warp];
  if (clocks.fenced.warps.empty()) return;
  work_ += work::kJoinedRow * lock.prove(clocks.fenced);
  const LaneClocks own = fenced_by(clocks, lane);
  if (own[static_cast<std::size_t>(lane)] != 0) work_ += work::kJoinedRow * lock.join_lanes(warp, own);
}

}  // namespace roofwalk::vgpu
