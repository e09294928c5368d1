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

// The number of the lock that a word of global memory is, behind those of all words of shared memory.
std::size_t word_of_global(std::uint64_t address) { return address / 4 | ~(~std::size_t{0} >> 1); }

void raise(Knowledge& known, std::uint32_t warp, Clock to, bool is_proven) {
  if (is_proven) return known.raise(warp, to);
  known.warps[warp] = std::max(known.warps[warp], to);
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

// A lane learns of another one what that did before time `told`. Returns whether that was news.
bool learn_at(Clock told, int lane, int other, std::vector<Clock>& met) {
  if (met.empty()) met.assign(std::size_t{kWarpSize} * kWarpSize, 0);
  Clock& known = met[static_cast<std::size_t>(lane * kWarpSize + other)];
  if (told <= known) return false;
  known = told;
  return true;
}

}  // namespace

bool RaceDetector::is_under_way(const Record& record, std::uint32_t warp, int lane) const {
  if (record.touch != SharedTouch::copy) return false;
  const int copier = std::countr_zero(record.lanes);
  if (record.clock <= warps_[record.warp].copies.of(copier).waited.size()) return false;
  const Knowledge* const apart = warps_[warp].apart.of(1u << lane);
  return !warps_[warp].known.copies.include(record.warp, copier, record.clock) &&
         (apart == nullptr || !apart->copies.include(record.warp, copier, record.clock));
}

int RaceDetector::rival(const Record& record, std::uint32_t warp, int lane, bool by_luck) const {
  Clock clock = record.clock;
  const Knowledge& known = warps_[warp].known;
  const Knowledge* const apart = warps_[warp].apart.of(1u << lane);
  if (record.touch == SharedTouch::copy) {
    const int copier = std::countr_zero(record.lanes);
    if (known.copies.include(record.warp, copier, record.clock)) return -1;
    if (apart != nullptr && apart->copies.include(record.warp, copier, record.clock)) return -1;
    clock = warps_[record.warp].copies.of(copier).waited[record.clock - 1];
  }
  const auto newest = [](std::uint32_t lanes) { return 31 - std::countl_zero(lanes); };
  if (record.warp != warp) {
    if (clock <= (by_luck ? known.warps : known.proven)[record.warp]) return -1;
    const auto is_known = [&](const Knowledge& by, int other) {
      return clock <= (by_luck ? by.of_lane(record.warp, other) : by.proven_of_lane(record.warp, other));
    };
    std::uint32_t unknown = 0;
    for (std::uint32_t left = record.lanes; left != 0; left &= left - 1) {
      const int other = std::countr_zero(left);
      if (!is_known(known, other) && (apart == nullptr || !is_known(*apart, other))) unknown |= left & -left;
    }
    return unknown == 0 ? -1 : newest(unknown);
  }
  std::uint32_t others = record.lanes & ~(1u << lane);
  const WarpClocks& own = warps_[warp];
  if (others == 0 || clock < (by_luck ? own.met : own.synced)) return -1;
  const std::vector<Clock>& lanes = by_luck || !own.exchanged ? own.lanes : own.synced_lanes;
  while (others != 0) {
    const int other = newest(others);
    if (lanes.empty() || clock >= lanes[static_cast<std::size_t>(lane * kWarpSize + other)]) return other;
    others &= ~(1u << other);
  }
  return -1;
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
  are_locks_one_ = true;
}

void RaceDetector::forget_locks() {
  if (locks_.empty()) return;
  locks_ = {};  // clear() would visit every bucket of a map that was once large
  lock_bytes_ = 0;
  are_locks_one_ = false;
}

void RaceDetector::learn(std::uint32_t warp, std::uint32_t lanes, std::uint32_t live, const Knowledge& told) {
  if (lanes == 0) return;
  WarpClocks& clocks = warps_[warp];
  const bool by_all = (live & ~lanes) == 0;
  work_ += work::kJoinedRow * (by_all ? clocks.known.join(told) : clocks.apart.learn(lanes, live, told, clocks.known));
  clocks.learned = true;
}

bool RaceDetector::order_by_lock(std::uint32_t warp, int lane, std::uint32_t learners, std::size_t word,
                                 SharedTouch touch, const SharedWrites& writes) {
  Knowledge& lock = lock_of(word);
  bool is_news = false;
  if (touch != SharedTouch::publish) {
    is_news = learn_of_own(warp, lane, word);
    learn(warp, learners, writes.live, lock);
  }
  if (touch == SharedTouch::acquire) return is_news;
  const std::size_t rows = lock.rows();
  release(warp, lane, writes.relaxed, lock);
  ++warps_[warp].now;
  count_lock(lock, rows);
  return is_news;
}

void RaceDetector::release(std::uint32_t warp, int lane, bool relaxed, Knowledge& lock) {
  const WarpClocks& clocks = warps_[warp];
  std::size_t rows = lock.join(clocks.known, !relaxed) + clocks.apart.tell(1u << lane, lock, !relaxed);
  if ((clocks.touchers & ~(1u << lane)) == 0) {  // the other lanes have done nothing that they would not have told it
    lock.warps[warp] = clocks.now;
    if (!relaxed) lock.proven[warp] = clocks.now;
  } else {
    const Clock met = std::max<Clock>(clocks.met, 1) - 1;
    lock.warps[warp] = std::max(lock.warps[warp], met);
    if (!relaxed) lock.proven[warp] = std::max(lock.proven[warp], met);
    LaneClocks own{};
    for (std::size_t other = 0; other < kWarpSize; ++other)
      own[other] = known_of(clocks.lanes, static_cast<std::size_t>(lane), other);
    own[static_cast<std::size_t>(lane)] = clocks.now;
    rows += lock.join_lanes(warp, own, !relaxed);
  }
  work_ += 2 * work::kJoined + work::kJoinedRow * rows;
  if (relaxed) prove_fenced(warp, lane, lock);
}

bool RaceDetector::learn_of_own(std::uint32_t warp, int lane, std::size_t word) {
  WarpClocks& clocks = warps_[warp];
  const std::uint32_t others = clocks.touchers & ~(1u << lane);
  const auto at = locks_.find(are_locks_one_ ? 0 : word);
  if (others == 0 || at == locks_.end()) return false;
  const Knowledge& lock = at->second;
  if (lock.rows() == 0 && lock.warps[warp] < std::max<Clock>(clocks.synced, 1)) return false;
  work_ += work::kJoined;
  std::size_t news = 0;
  for (std::uint32_t left = others; left != 0; left &= left - 1) {
    const int other = std::countr_zero(left);
    const Clock told = lock.of_lane(warp, other) + 1;
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

void RaceDetector::see(std::uint32_t warp, const Access& access, std::uint32_t live, bool is_global) {
  const auto word_of = [&](int lane) {
    return is_global ? word_of_global(access.of(lane)) : access.of(lane) >> word_shift_;
  };
  for (std::uint32_t left = access.mask; left != 0;) {
    const std::size_t word = word_of(std::countr_zero(left));
    std::uint32_t same = 0;
    for (std::uint32_t lanes = left; lanes != 0; lanes &= lanes - 1) {
      if (are_locks_one_ || word_of(std::countr_zero(lanes)) == word) same |= lanes & -lanes;
    }
    left &= ~same;
    const auto lock = locks_.find(are_locks_one_ ? 0 : word);
    if (lock == locks_.end()) continue;
    work_ += work::kJoined;
    learn(warp, same, live, lock->second);
  }
}

void RaceDetector::pass_through_global(std::uint32_t warp, const Access& access, bool learns, std::uint32_t tellers,
                                       bool relaxed, std::uint32_t live) {
  if (learns && !locks_.empty()) see(warp, access, live, true);
  const bool tells = tellers != 0 && (!relaxed || !warps_[warp].fenced.warps.empty());
  if (!tells && (!learns || locks_.empty())) return;
  bool is_news = false;
  // Lane after lane, as atomics happen: the last one to count knows of those ahead of it.
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::size_t word = word_of_global(access.of(lane));
    if (learns) is_news = learn_of_own(warp, lane, word) || is_news;
    if (!tells || (tellers >> lane & 1u) == 0) continue;
    if (relaxed) {
      publish(warp, lane, word);
      continue;
    }
    Knowledge& lock = lock_of(word);
    const std::size_t rows = lock.rows();
    release(warp, lane, false, lock);
    ++warps_[warp].now;
    count_lock(lock, rows);
  }
  if (is_news) meet_if_all_know(warp);
}

void RaceDetector::come_to_barrier(int barrier, std::uint32_t warp) {
  Knowledge& known = barriers_[barrier];
  work_ += work::kJoinedRow * (known.join(warps_[warp].known) + warps_[warp].apart.tell(kAllLanes, known));
  known.set(warp, warps_[warp].now++);
}

void RaceDetector::leave_barrier(int barrier, std::span<const std::uint32_t> waiting,
                                 std::span<const std::uint32_t> gone) {
  Knowledge& known = barriers_[barrier];
  for (const std::uint32_t warp : gone) {
    work_ += work::kJoinedRow * (known.join(warps_[warp].known) + warps_[warp].apart.tell(kAllLanes, known));
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
  earlier_.forget_all();
  for (WarpClocks& clocks : warps_) {
    clocks.known.forget_lanes();
    clocks.fenced = Knowledge();
    clocks.fenced_each = 0;
    clocks.fenced_lanes.clear();
  }
}

void RaceDetector::meet_in_warp(std::uint32_t warp, std::uint32_t lanes, bool exchange) {
  WarpClocks& clocks = warps_[warp];
  const Clock now = ++clocks.now;
  if (!clocks.apart.empty()) work_ += work::kJoinedRow * clocks.apart.meet(lanes, exchange, clocks.known);
  if (clocks.fenced_each != 0 || !clocks.fenced_lanes.empty()) share_fences(clocks, warp, lanes);
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
    clocks.touchers = 0;
    clocks.exchanged = false;
    clocks.synced_lanes.clear();
    return;
  }
  work_ += work::kMetLane * static_cast<std::uint64_t>(std::popcount(lanes));
  meet_at(now, lanes, clocks.lanes);
  if (clocks.exchanged && !exchange) meet_at(now, lanes, clocks.synced_lanes);
}

void RaceDetector::begin_mbarrier(std::uint64_t byte, std::uint32_t warp, int lane, std::uint32_t pc) {
  end_mbarrier(byte);
  const Knowledge nothing(warps_.size());
  mbarriers_[byte] = {
      nothing,
      nothing,
      {.clock = warps_[warp].now, .pc = pc, .lanes = 1u << lane, .warp = warp, .touch = SharedTouch::write}};
}

std::optional<RaceDetector::Finding> RaceDetector::use_mbarrier(std::uint64_t byte, std::uint32_t warp,
                                                                int lane) const {
  const Record& begun = mbarriers_.at(byte).begun;
  const int other = rival(begun, warp, lane);
  if (other < 0) return std::nullopt;
  return Finding{.kind = Finding::Kind::race,
                 .lane = lane,
                 .byte = byte,
                 .thread = begun.warp * kWarpSize + static_cast<std::uint32_t>(other),
                 .pc = begun.pc,
                 .touch = begun.touch};
}

void RaceDetector::end_mbarrier(std::uint64_t byte) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  mbarrier_rows_ -= at->second.arriving.rows() + at->second.arrived.rows();
  mbarriers_.erase(at);
}

void RaceDetector::count_rows(Knowledge& arriving, std::size_t rows_before) {
  mbarrier_rows_ += arriving.rows() - rows_before;
  if (mbarrier_rows_ * sizeof(LaneClocks) <= most_mbarrier_bytes_) return;
  mbarrier_rows_ -= arriving.rows();
  arriving.blur_lanes();
}

std::size_t RaceDetector::tell_of_own(const WarpClocks& clocks, std::uint32_t warp, std::uint32_t lanes, Knowledge& to,
                                      bool is_proven) const {
  raise(to, warp, std::max<Clock>(clocks.met, 1) - 1, is_proven);
  LaneClocks own{};
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    for (std::size_t other = 0; other < kWarpSize; ++other)
      own[other] = std::max(own[other], known_of(clocks.lanes, lane, other));
    own[lane] = std::min(clocks.now, clocks.touched);
  }
  return to.join_lanes(warp, own, is_proven);
}

void RaceDetector::arrive(std::uint64_t byte, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live,
                          bool copies) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  WarpClocks& clocks = warps_[warp];
  Mbarrier& barrier = at->second;
  const std::size_t rows_before = barrier.arriving.rows();
  // Lanes that have ended have not arrived: what they did since the warp last synchronized is not told.
  const bool do_all_arrive = lanes == live && (clocks.touchers & ~lanes) == 0;
  // It is the copies that arrive, not the threads: what these have done themselves is not proved to be over by that.
  if (do_all_arrive) {
    work_ += work::kJoinedRow *
             (barrier.arriving.join(clocks.known, !copies) + clocks.apart.tell(lanes, barrier.arriving, !copies));
    raise(barrier.arriving, warp, clocks.now, !copies);
  } else {
    // What others have told this warp about single lanes of its own is not for every lane to pass on.
    Knowledge known = clocks.known;
    std::size_t rows = known.forget_lanes(warp);
    rows += barrier.arriving.join(known, !copies) + clocks.apart.tell(lanes, barrier.arriving, !copies);
    rows += tell_of_own(clocks, warp, lanes, barrier.arriving, !copies);
    work_ += work::kMetLane * static_cast<std::uint64_t>(std::popcount(lanes)) + work::kJoinedRow * rows;
  }
  count_rows(barrier.arriving, rows_before);
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
  // A phase ends behind all earlier ones, so whoever waits for it is ordered behind the arrivals at these, too.
  const std::size_t rows_before = barrier.arriving.rows();
  work_ += work::kJoinedRow * barrier.arriving.join(barrier.arrived);
  count_rows(barrier.arriving, rows_before);
  std::swap(barrier.arrived, barrier.arriving);
  mbarrier_rows_ -= barrier.arriving.rows();
  barrier.arriving.clear();
}

void RaceDetector::acquire(std::uint64_t byte, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live) {
  const auto at = mbarriers_.find(byte);
  if (at == mbarriers_.end()) return;
  WarpClocks& clocks = warps_[warp];
  const Knowledge& arrived = at->second.arrived;
  learn(warp, lanes, live, arrived);
  if (!clocks.exchanged && arrived.has_luck_of(warp)) {  // as if they had exchanged values
    clocks.exchanged = true;
    clocks.synced_lanes = clocks.lanes;
  }
  if (lanes == live) {
    clocks.met = std::max(clocks.met, arrived.warps[warp] + 1);
    clocks.synced = std::max(clocks.synced, arrived.proven[warp] + 1);
  }
  // What lanes of the warp told one by one.
  std::size_t news = 0;
  for (int other = 0; other < kWarpSize && (lanes != live || arrived.rows() != 0); ++other) {
    const Clock told = arrived.of_lane(warp, other) + 1, proven = arrived.proven_of_lane(warp, other) + 1;
    if (told <= std::min(clocks.met, clocks.synced)) continue;
    for (std::uint32_t left = lanes & ~(1u << other); left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (told > clocks.met) news += learn_at(told, lane, other, clocks.lanes);
      if (clocks.exchanged && proven > clocks.synced) news += learn_at(proven, lane, other, clocks.synced_lanes);
    }
  }
  constexpr std::size_t kTimesPerRow = 8;  // that lanes learn one by one while a row is joined
  work_ += work::kJoinedRow * (news / kTimesPerRow);
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
    clocks.touchers |= part.lanes;
  });
  work_ += work::kMetLane * (clocks.copies.parts() - 1);
}

void RaceDetector::wait_for_all_copies(std::uint32_t warp, std::uint32_t lanes) {
  commit_copies(warp, lanes);
  wait_for_copies(warp, lanes, 0);
}

}  // namespace roofwalk::vgpu
