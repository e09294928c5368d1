#include "common/vgpu/sanitizer/race_detector.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/sanitizer/same_places.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::size_t kFewKept = std::size_t{1} << 12;  // touches; this many fit in the host's cache

}  // namespace

RaceDetector::RaceDetector(std::uint32_t bytes, std::uint32_t word_bytes, std::uint32_t warps,
                           std::shared_ptr<TouchPatterns> patterns, std::uint32_t reserved_bytes)
    : word_shift_(std::countr_zero(word_bytes)),
      reserved_words_(reserved_bytes / word_bytes),
      writes_((bytes + word_bytes - 1) / word_bytes),
      reads_(writes_.size()),
      older_reads_(writes_.size()),
      earlier_(warps),
      patterns_(patterns != nullptr ? std::move(patterns) : std::make_shared<TouchPatterns>(word_bytes)),
      warps_(warps),
      most_lock_bytes_(std::max(kFewLockBytes, kLockBytes * bytes)),
      most_mbarrier_bytes_(std::max(kMbarrierBytes * bytes, kFewMbarriers * 4 * warps * sizeof(LaneClocks))) {
  begin_block();
}

void RaceDetector::begin_block() {
  for (auto* ids : {&writes_, &reads_, &older_reads_}) std::fill(ids->begin(), ids->end(), 0);
  std::fill(writes_.end() - static_cast<std::ptrdiff_t>(reserved_words_), writes_.end(), kForgotten);
  log_.clear();
  first_kept_ = (kForgotten >> kIdShift) + 1;
  most_kept_ = std::max(kFewKept, writes_.size());
  whole_block_met_ = next_id();
  std::fill(warps_.begin(), warps_.end(), WarpClocks(warps_.size()));
  forget_locks();
  earlier_.forget_all();
  unset_.clear();
  work_ = 0;
  mbarriers_.clear();
  mbarrier_rows_ = 0;
  for (auto& barrier : barriers_) barrier = Knowledge(warps_.size());
}

inline RaceDetector::Id RaceDetector::keep(const Record& record) {
  const Id id = next_id() | (record.touch == SharedTouch::copy ? kCopy : 0) | record.warp;
  log_.push_back(record);
  return id;
}

void RaceDetector::forget_the_old() {
  // All touches before the last barrier of the whole block, except asynchronous copies, are ordered before everything
  // that follows, and so need not be kept.
  const auto number = [&](Id id) { return static_cast<std::size_t>(id >> kIdShift); };
  std::vector<bool> wanted(log_.size());
  const auto each_id = [&](auto&& visit) {
    for (auto* ids : {&writes_, &reads_, &older_reads_}) {
      for (Id& id : *ids) {
        if (number(id) >= first_kept_) visit(id);
      }
    }
  };
  each_id([&](Id& id) {
    if (id < whole_block_met_ && (id & kCopy) == 0) {
      id = kForgotten;
    } else {
      wanted[number(id) - first_kept_] = true;
    }
  });
  // New numbers by old number; for a dropped touch, the new number of the next one that is kept.
  std::vector<Id> numbers(log_.size() + 1);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < log_.size(); ++i) {
    numbers[i] = static_cast<Id>(first_kept_ + kept);
    if (wanted[i]) log_[kept++] = log_[i];
  }
  numbers[log_.size()] = static_cast<Id>(first_kept_ + kept);
  const auto renumber = [&](Id& id) {
    if (number(id) >= first_kept_) id = numbers[number(id) - first_kept_] << kIdShift | (id & (kCopy | kWarpMask));
  };
  each_id(renumber);
  renumber(whole_block_met_);
  for (WarpClocks& warp : warps_) renumber(warp.synced_id);
  log_.resize(kept);
  most_kept_ = std::max({kFewKept, writes_.size(), 2 * kept});
}

RaceDetector::Record RaceDetector::recall(Id id, std::size_t word) const {
  const std::size_t number = id >> kIdShift;
  if (number < first_kept_) return {};  // dropped: stands for a touch at time 0 by no lane
  Record record = log_[number - first_kept_];
  if (record.pattern != nullptr) {
    const auto& words = record.pattern->words;
    const auto at = std::lower_bound(words.begin(), words.end(), static_cast<std::uint32_t>(word - record.first_word));
    const auto i = static_cast<std::size_t>(at - words.begin());
    record.lanes = record.pattern->lanes[i];
    if (!record.pattern->pcs.empty()) record.pc = record.pattern->pcs[i];
  }
  return record;
}

std::optional<RaceDetector::Finding> RaceDetector::check(std::size_t word, std::uint32_t warp, int lane,
                                                         SharedTouch touch, const SharedWrites& writes,
                                                         std::uint32_t pc) const {
  const bool unchanged = (writes.unchanged >> lane & 1u) != 0;
  const auto found = [&](Finding::Kind kind, const Record& record, int other) {
    return Finding{.kind = kind,
                   .lane = lane,
                   .thread = record.warp * kWarpSize + static_cast<std::uint32_t>(other),
                   .pc = record.pc,
                   .touch = record.touch};
  };
  const bool reads = reads_only(touch) || touch == SharedTouch::atomic || touch == SharedTouch::lock || writes.fetches;
  const bool is_set = writes_[word] != 0 && (writes.carries || !unset_.hold(word));
  if (!is_set && reads) return found(Finding::Kind::uninitialized, {}, 0);
  const Record write = recall(writes_[word], word);
  int writer = -1;
  std::optional<Finding> luck;
  const auto check_luck = [&](const Record& record) {
    // Between warps, only what was written counts: reads before a relaxed store come first on today's GPUs.
    if (record.warp == warp ? !warps_[warp].exchanged : is_atomic(record.touch) || reads_only(record.touch)) return;
    const bool is_exchange = record.warp == warp || warps_[warp].apart.has_exchanged(lane);
    const Finding::Kind kind = is_exchange ? Finding::Kind::exchange : Finding::Kind::unfenced;
    if (const int other = rival(record, warp, lane, false); other >= 0) luck = found(kind, record, other);
  };
  // Within a warp, a volatile load and a store that nothing orders happen in their order on today's GPUs.
  const auto check_glance = [&](const Record& record) {
    if (record.warp != warp) return;
    if (const int other = rival(record, warp, lane); other >= 0) luck = found(Finding::Kind::glance, record, other);
  };
  if (writes_[word] != 0) {
    if (is_under_way(write, warp, lane)) {
      auto missing = found(Finding::Kind::missing_wait, write, std::countr_zero(write.lanes));
      missing.arrives = write.clock <= warps_[write.warp].copies.of(std::countr_zero(write.lanes)).arrived;
      return missing;
    }
    // Lanes that execute an instruction together are not reported here: `writes.replaced` tells which of them write
    // different values. Neither are those that write the same value later, in another round of a loop.
    const bool is_same_code = write.pc == pc && write.warp == warp && touch != SharedTouch::read;
    const bool together = is_same_code && (unchanged || writes_[word] >= began_);
    const bool is_borne = is_atomic(touch) || bears(touch, write.touch, write.warp == warp);
    const bool harmless = together || (is_atomic(write.touch) && is_borne);
    if (!harmless) writer = rival(write, warp, lane);
    if (writer >= 0 && !unchanged) return found(Finding::Kind::race, write, writer);
    if (!harmless && !unchanged) check_luck(write);
    if (touch == SharedTouch::glance && write.touch == SharedTouch::publish) check_glance(write);
    if (!is_atomic(touch) && !unchanged && earlier_.may_have(word, word)) {
      if (auto race = check_earlier(word, warp, lane, touch)) return race;
    }
  }
  if (!reads_only(touch)) {
    for (const Id id : {reads_[word], older_reads_[word]}) {
      if (id == 0) continue;
      const Record read = recall(id, word);
      if (bears(read.touch, touch, read.warp == warp)) {
        const bool glances = read.touch == SharedTouch::glance;
        if (glances && (touch == SharedTouch::write || touch == SharedTouch::publish)) check_glance(read);
        continue;
      }
      if (const int other = rival(read, warp, lane); other >= 0) return found(Finding::Kind::race, read, other);
      check_luck(read);
    }
  }
  if (writer >= 0) return found(Finding::Kind::same_value, write, writer);
  return luck;
}

void RaceDetector::note(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch, std::uint32_t pc,
                        bool tells) {
  // No later access is reported to race with an acquire, and its thread goes by what atomics on the word have done.
  if (touch == SharedTouch::acquire) return earlier_.forget(word);
  const WarpClocks& clocks = warps_[warp];
  // Whoever acquires a lock knows the touch that released it, too.
  const Clock now = is_of_lock(touch) ? clocks.now - 1 : clocks.now;
  if (!is_arrival(word, touch)) {
    warps_[warp].touched = clocks.now;
    warps_[warp].touchers |= 1u << lane;
  }
  Record record{.clock = touch == SharedTouch::copy ? clocks.copies.of(lane).closed + 1 : now,
                .pc = pc,
                .lanes = 1u << lane,
                .warp = warp,
                .touch = touch};
  if (!reads_only(touch)) keep_earlier(word, tells, record);
  const Id id = keep(record);
  if (!reads_only(touch)) {
    writes_[word] = id;
    reads_[word] = older_reads_[word] = 0;
    return;
  }
  // An earlier read that is ordered before this one is replaced by it; an unordered one is remembered as the older
  // read.
  const Id last = reads_[word];
  if (last != 0 && rival(recall(last, word), warp, lane) >= 0) older_reads_[word] = last;
  reads_[word] = id;
}

bool RaceDetector::is_over(Id id, std::size_t word, std::uint32_t warp, std::uint32_t lanes) const {
  if ((id & kCopy) != 0) return false;
  const WarpClocks& clocks = warps_[warp];
  if (id < whole_block_met_) return true;
  const std::uint32_t other = id & kWarpMask;
  if (other != warp) {
    const Record record = recall(id, word);
    if (record.clock <= clocks.known.proven[other]) return true;
    const Knowledge* const apart = clocks.apart.of(lanes);
    if (apart != nullptr && record.clock <= apart->proven[other]) return true;
    if (clocks.known.rows() == 0 && (apart == nullptr || apart->rows() == 0)) return false;
    const auto is_known = [&](const Knowledge& by, int lane) { return record.clock <= by.proven_of_lane(other, lane); };
    bool known = true;
    for (std::uint32_t left = record.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      known = known && (is_known(clocks.known, lane) || (apart != nullptr && is_known(*apart, lane)));
    }
    return known;
  }
  if (id < clocks.synced_id) return true;
  const Record record = recall(id, word);
  return record.clock < clocks.synced || (std::has_single_bit(lanes) && record.lanes == lanes);
}

bool RaceDetector::touch_in_order(std::size_t word, const Record& now, Id& id) {
  const bool reads = reads_only(now.touch);
  if (!earlier_.of(word).empty()) return false;
  if (writes_[word] == 0 ? reads : !is_over(writes_[word], word, now.warp, now.lanes)) return false;
  const Id last = reads_[word];
  if (!reads) {
    for (const Id read : {last, older_reads_[word]}) {
      if (!is_over(read, word, now.warp, now.lanes)) return false;
    }
  }
  if (id == 0) {
    id = keep(now);
    warps_[now.warp].touched = now.clock;
    warps_[now.warp].touchers |= now.lanes;
  }
  if (!reads) {
    writes_[word] = id;
    reads_[word] = older_reads_[word] = 0;
    return true;
  }
  reads_[word] = id;
  if (last == 0) return true;
  const Record before = recall(last, word);
  const bool is_own = (last & kWarpMask) == now.warp;
  if (is_own && before.clock == now.clock && before.pc == now.pc) {
    if ((before.lanes & ~now.lanes) == 0) return true;
    Record both = now;
    both.lanes |= before.lanes;
    reads_[word] = keep(both);
    return true;
  }
  // This read replaces an earlier one that is ordered before it, or one of the same warp whose lanes it repeats.
  const bool repeated = is_own && (before.lanes & ~now.lanes) == 0;
  if (!repeated && !is_over(last, word, now.warp, now.lanes)) older_reads_[word] = last;
  return true;
}

bool RaceDetector::words_in_order(std::size_t first, const Pattern& pattern, std::uint32_t warp, bool reads) const {
  for (std::size_t i = 0; i < pattern.words.size(); ++i) {
    const std::size_t word = first + pattern.words[i];
    const std::uint32_t lanes = pattern.lanes[i];
    if (writes_[word] == 0 ? reads : !is_over(writes_[word], word, warp, lanes)) return false;
    // A read replaces an unordered earlier read of the same warp only if it repeats all of its lanes.
    if (reads) {
      const Id last = reads_[word];
      if ((last & kWarpMask) == warp && !is_over(last, word, warp, lanes) && (recall(last, word).lanes & ~lanes) != 0)
        return false;
    } else if (!is_over(reads_[word], word, warp, lanes) || !is_over(older_reads_[word], word, warp, lanes)) {
      return false;
    }
  }
  return true;
}

template <bool reads, class WordOf>
inline bool RaceDetector::surely_in_order(const Ages& ages, std::size_t first, std::size_t count,
                                          WordOf word_of) const {
  const Id* __restrict const written = writes_.data() + first;
  const Id* __restrict const read = reads_.data() + first;
  const Id* __restrict const older = older_reads_.data() + first;
  unsigned clear = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t w = word_of(i);
    clear &= ages.surely_over(written[w]);
    if constexpr (reads) {
      clear &= static_cast<unsigned>(written[w] != 0) & (ages.surely_over(read[w]) | (ages.is_own(read[w]) ^ 1u));
    } else {
      clear &= ages.surely_over(read[w]) & ages.surely_over(older[w]);
    }
  }
  return clear != 0;
}

inline RaceDetector::Id RaceDetector::keep_pattern(std::uint32_t warp, std::uint32_t pc, SharedTouch touch,
                                                   std::size_t first, const Pattern& pattern) {
  const Id id = next_id() | warp;
  // The record is built in place: copying a temporary would make the host wait until its parts have been written.
  Record& record = log_.emplace_back();
  record.clock = warps_[warp].touched = warps_[warp].now;
  warps_[warp].touchers = kAllLanes;
  record.pc = pc;
  record.warp = warp;
  record.touch = touch;
  record.pattern = &pattern;
  record.first_word = first;
  return id;
}

template <bool reads, class WordOf>
inline void RaceDetector::remember(Id id, const Ages& ages, std::size_t first, std::size_t count, WordOf word_of) {
  Id* __restrict const written = writes_.data() + first;
  Id* __restrict const read = reads_.data() + first;
  Id* __restrict const older = older_reads_.data() + first;
  // An unordered read by another warp becomes the older read, because a later write may also race with it.
  const auto remember_others = [&](auto is_others) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t w = word_of(i);
      older[w] = is_others(w) != 0 ? read[w] : older[w];
      read[w] = id;
    }
  };
  if constexpr (!reads) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t w = word_of(i);
      written[w] = id;
      read[w] = older[w] = 0;
    }
  } else if (warps_[ages.warp].learned) {
    remember_others([&](std::size_t w) -> unsigned {
      return ages.is_own(read[w]) == 0 && !is_over(read[w], first + w, ages.warp, kAllLanes);
    });
  } else {
    remember_others([&](std::size_t w) { return (ages.surely_over(read[w]) | ages.is_own(read[w])) ^ 1u; });
  }
}

template <bool reads, std::size_t known_count, class WordOf>
bool RaceDetector::touch_words(std::uint32_t warp, std::uint32_t pc, std::size_t first, const Pattern& pattern,
                               WordOf word_of) {
  const Ages ages{whole_block_met_, warps_[warp].synced_id, warp};
  const std::size_t count = known_count != 0 ? known_count : pattern.words.size();
  if (!surely_in_order<reads>(ages, first, count, word_of) && !words_in_order(first, pattern, warp, reads))
    return false;
  const Id id = keep_pattern(warp, pc, reads ? SharedTouch::read : SharedTouch::write, first, pattern);
  remember<reads>(id, ages, first, count, word_of);
  return true;
}

bool RaceDetector::read_in_lockstep(std::uint32_t warp, std::size_t number, std::uint64_t base,
                                    const LaneOffsets& offsets, const ProductRun::Side& side) {
  if (log_.size() >= most_kept_) forget_the_old();
  const std::int64_t low = side.low;
  const Pattern& pattern = patterns_->of_side(number, offsets, side, work_);
  if (pattern.words.empty() || !warps_[warp].lanes.empty() || !unset_.empty()) return false;
  const Ages ages{whole_block_met_, warps_[warp].synced_id, warp};
  const std::size_t first = (base + static_cast<std::uint64_t>(low)) >> word_shift_;
  if (earlier_.may_have(first, first + pattern.words.back())) return false;
  const auto next = [](std::size_t i) { return i; };
  bool clear = true;
  for (const Pattern::Stretch& stretch : pattern.stretches)
    clear = clear && surely_in_order<true>(ages, first + stretch.first, stretch.count, next);
  if (!clear && !words_in_order(first, pattern, warp, true)) return false;
  const Id id = keep_pattern(warp, side.loads.front().pc, SharedTouch::read, first, pattern);
  for (const Pattern::Stretch& stretch : pattern.stretches)
    remember<true>(id, ages, first + stretch.first, stretch.count, next);
  return true;
}

bool RaceDetector::touch_in_lockstep(std::uint32_t warp, std::uint32_t pc, std::uint64_t first,
                                     const LaneOffsets& offsets, std::uint32_t bytes, SharedTouch touch) {
  if (log_.size() >= most_kept_) forget_the_old();
  const Pattern& pattern = patterns_->of(pc, offsets, bytes, work_);
  const bool reads = touch == SharedTouch::read;
  if (!warps_[warp].lanes.empty() || (!reads && !pattern.apart) || !unset_.empty()) return false;
  const std::size_t low = (first + static_cast<std::uint64_t>(offsets.low)) >> word_shift_;
  if (!pattern.words.empty() && earlier_.may_have(low, low + pattern.words.back())) return false;
  const auto next = [](std::size_t i) { return i; };
  const auto listed = [&pattern](std::size_t i) { return static_cast<std::size_t>(pattern.words[i]); };
  if (!reads) {
    return pattern.is_contiguous() ? touch_words<false, 0>(warp, pc, low, pattern, next)
                                   : touch_words<false, 0>(warp, pc, low, pattern, listed);
  }
  // The most frequent sizes are compile-time constants: a row of a tile, one word, one word in each of two rows.
  switch (pattern.words.size()) {
    case 0:
      return false;
    case 1:
      return touch_words<true, 1>(warp, pc, low, pattern, next);
    case 2:
      return touch_words<true, 2>(warp, pc, low, pattern, listed);
    case 16:
      if (pattern.is_contiguous()) return touch_words<true, 16>(warp, pc, low, pattern, next);
      break;
    case 32:
      if (pattern.is_contiguous()) return touch_words<true, 32>(warp, pc, low, pattern, next);
      break;
    default:
      break;
  }
  return pattern.is_contiguous() ? touch_words<true, 0>(warp, pc, low, pattern, next)
                                 : touch_words<true, 0>(warp, pc, low, pattern, listed);
}

std::optional<RaceDetector::Finding> RaceDetector::touch_closely(std::size_t word, std::uint32_t warp, int lane,
                                                                 SharedTouch touch, const SharedWrites& writes,
                                                                 std::uint32_t pc) {
  auto finding = check(word, warp, lane, touch, writes, pc);
  if (!finding && (writes.replaced >> lane & 1u) != 0) {
    finding = Finding{.kind = Finding::Kind::together, .lane = lane, .pc = pc, .touch = touch};
  }
  if (finding) finding->byte = word << word_shift_;
  const bool tells = writes.tells || touch == SharedTouch::lock;
  if (!finding || finding->is_warning()) note(word, warp, lane, touch, pc, tells);
  return finding;
}

std::optional<RaceDetector::Finding> RaceDetector::touch(std::uint32_t warp, std::uint32_t pc, const Access& access,
                                                         SharedTouch of_warp, const SharedWrites& writes) {
  if (log_.size() >= most_kept_) forget_the_old();
  began_ = next_id();
  std::optional<Finding> warning;
  const WarpClocks& clocks = warps_[warp];
  const bool is_plain = of_warp <= SharedTouch::write;
  Record now{.clock = clocks.now, .pc = pc, .lanes = 0, .warp = warp, .touch = of_warp};
  const SamePlaces same(access);
  bool has_learned = false;
  std::uint32_t informed = 0;
  for (std::uint32_t left = access.mask; left != 0;) {
    const int lane = std::countr_zero(left);
    // Lanes with the same address are checked together.
    now.lanes = 1u << lane;
    if (is_plain && writes.replaced == 0) now.lanes = left & same.with(lane);
    left &= ~now.lanes;
    const SharedTouch touch = writes.of_lane(of_warp, lane);
    const bool has_failed = (writes.failed >> lane & 1u) != 0;
    const bool in_order = is_plain && clocks.lanes.empty() && writes.replaced == 0;
    const std::size_t first = access.of(lane) >> word_shift_;
    const std::size_t last = (access.of(lane) + access.bytes - 1) >> word_shift_;
    if (writes.learns) has_learned = learn_of_own(warp, lane, first) || has_learned;
    if (is_of_lock(touch)) {
      // Lanes that acquire one word together learn together.
      const std::uint32_t learners =
          touch == SharedTouch::acquire ? access.mask & same.with(lane) & ~informed : 1u << lane;
      has_learned = order_by_lock(warp, lane, learners, first, touch, writes) || has_learned;
      informed = touch == SharedTouch::acquire ? informed | learners : 0;
    }
    if (touch == SharedTouch::atomic && !has_failed) publish(warp, lane, first);
    // A load may move a whole structure although some members, or the padding, were never written.
    const auto is_written = [](Id write) { return write != 0; };
    const bool moves_some = (touch == SharedTouch::read || touch == SharedTouch::glance) &&
                            (writes.carries || std::any_of(&writes_[first], &writes_[last] + 1, is_written));
    Id id = 0;
    for (std::size_t i = first; i <= last; ++i) {
      const bool was_unset = unset_.hold(i);
      if (writes.carries && (writes_[i] == 0 || was_unset)) unset_.meet();
      if (in_order && !was_unset && touch_in_order(i, now, id)) continue;
      if (i != first) work_ += work::kCheckedWord * static_cast<std::uint64_t>(std::popcount(now.lanes));
      if (moves_some && writes_[i] == 0) {
        for (std::uint32_t lanes = now.lanes; lanes != 0; lanes &= lanes - 1)
          note(i, warp, std::countr_zero(lanes), touch, pc);
        continue;
      }
      for (std::uint32_t lanes = now.lanes; lanes != 0; lanes &= lanes - 1) {
        const auto finding = touch_closely(i, warp, std::countr_zero(lanes), touch, writes, pc);
        if (!finding) continue;
        if (!finding->is_warning()) return finding;
        if (!warning) warning = finding;
      }
      if (was_unset && !reads_only(touch)) unset_.remove(i);
    }
  }
  if (has_learned) meet_if_all_know(warp);
  return warning;
}

}  // namespace roofwalk::vgpu
