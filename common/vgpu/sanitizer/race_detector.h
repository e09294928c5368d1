// The race detector for a block's shared memory: it keeps the last touches (accesses) of each word, and vector clocks
// that tell whether synchronization orders them. It exists in sanitized runs only; counts and results are the same
// with and without it.
//
// It finds:
// - reads of bits that nobody has written (of loads, those whose values are used);
// - two unordered touches of a word by different threads, at least one of them a write. Touches are ordered by a
//   barrier of the block; by a __syncwarp whose mask names both lanes; by a lock, by an mbarrier, or by an atomic after
//   a fence. If only a shuffle, vote, match or reduction lies between, or a volatile or relaxed access that tells of a
//   write with no fence behind that, this is a warning;
// - touches of bytes that an asynchronous copy may still be writing;
// - two lanes that write different values to one word in one instruction. Unordered writes of the same value give a
//   warning, or nothing if one instruction makes both.
//
// It does not find: a race between a write and one of three or more unordered reads of a word by different warps or
// instructions (only two reads are remembered), or between a plain access and an atomic that is not the latest of its
// warp; races that show only if the warps get a lock or reach an mbarrier in another order; what a lane publishes
// behind a fence although only another lane of its warp had acquired it in front of that fence; races in global memory;
// plain loads of an mbarrier's own 8 bytes. In a block with thousands of locks (kLockBytes), all of them count as one.
// Atomics, volatile stores, and volatile loads that poll or peek do not race with each other. Other files check reads
// of unwritten global memory (memory.h) and local memory (local_memory.h), masks that name
// absent threads (members.h), and barriers that some threads of a warp bypass (divergent_barrier.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/sanitizer/copy_groups.h"
#include "common/vgpu/sanitizer/earlier_atomics.h"
#include "common/vgpu/sanitizer/knowledge.h"
#include "common/vgpu/sanitizer/knowledge_of_lanes.h"
#include "common/vgpu/sanitizer/shared_touch.h"
#include "common/vgpu/sanitizer/touch_patterns.h"
#include "common/vgpu/sanitizer/unset_words.h"

namespace roofwalk::vgpu {

class RaceDetector {
 public:
  // `word_bytes` is the granularity of detection: 1, 2 or 4. `patterns`: of the launch, with the same `word_bytes`; if
  // null, the detector makes its own. The last `reserved_bytes` are written before a block begins.
  RaceDetector(std::uint32_t bytes, std::uint32_t word_bytes, std::uint32_t warps,
               std::shared_ptr<TouchPatterns> patterns = nullptr, std::uint32_t reserved_bytes = 0);

  void begin_block();

  struct Finding {
    enum class Kind { uninitialized, race, missing_wait, same_value, exchange, glance, unfenced, together };
    Kind kind = Kind::race;
    int lane = 0;
    std::uint64_t byte = 0;    // offset in shared memory
    std::uint32_t thread = 0;  // the other thread's number in the block; unused for `uninitialized`
    std::uint32_t pc = 0;      // the other thread's instruction
    SharedTouch touch = SharedTouch::read;
    bool arrives = false;  // the copy for which a wait is missing arrives at an mbarrier
    bool is_warning() const { return kind >= Kind::same_value && kind <= Kind::unfenced; }
  };
  // Checks and records an in-bounds access of a warp. Returns the first error, or else the first warning. An access
  // with a warning is still recorded.
  std::optional<Finding> touch(std::uint32_t warp, std::uint32_t pc, const Access& access, SharedTouch touch,
                               const SharedWrites& writes = {});

  // Whether loads that carry on what they find have found unwritten words since the last take_unset(). unset_bits:
  // which bits of a number of at most eight bytes, of whole words, hold no value; leave_unset: a store has left these
  // bits of a number without one.
  bool take_unset() { return unset_.take_met(); }
  std::uint64_t unset_bits(std::uint64_t byte, std::size_t bytes) const;
  bool is_written(std::uint64_t byte) const { return writes_[byte >> word_shift_] != 0; }
  void leave_unset(std::uint64_t byte, std::size_t bytes, std::uint64_t bits);

  // Returns the work (work.h) of all calls since the last take_work(). Does not include work::kCheckedLane for each
  // lane passed to touch().
  std::uint64_t take_work() { return std::exchange(work_, 0); }

  // come_to_barrier: a warp arrives at a barrier of the block. leave_barrier: the barrier opens. `waiting`: the warps
  // that the barrier releases; `gone`: the warps that have ended, which count as arrived.
  void come_to_barrier(int barrier, std::uint32_t warp);
  void leave_barrier(int barrier, std::span<const std::uint32_t> waiting, std::span<const std::uint32_t> gone);
  // The given lanes of a warp synchronize with each other, or only exchange values. An exchange orders no memory (CUDA
  // C++ Programming Guide, Warp Shuffle Functions), although on today's GPUs the accesses before it do come first. So
  // what only exchanges order gives a warning.
  void meet_in_warp(std::uint32_t warp, std::uint32_t lanes = kAllLanes, bool exchange = false);

  // A fence by `lanes` of a warp whose live lanes are `live`. A warp that later sees an atomic of one of these lanes
  // also sees what that lane did before the fence, what other lanes did before their own fences if it has met them
  // since, and what any lane did before the warp last synchronized.
  void fence(std::uint32_t warp, std::uint32_t lanes, std::uint32_t live);
  // Lanes of a warp whose live lanes are `live` read what other warps' atomics left in these words, and so are ordered
  // after what they published.
  void see(std::uint32_t warp, const Access& access, std::uint32_t live, bool is_global = false);
  // An access to global memory by which warps may tell each other something: its lanes learn what others have published
  // there (`learns`), and `tellers` publish what they have fenced, and all that they know unless `relaxed`.
  void pass_through_global(std::uint32_t warp, const Access& access, bool learns, std::uint32_t tellers, bool relaxed,
                           std::uint32_t live);

  // An mbarrier, identified by its offset in shared memory. arrive: `lanes` of a warp whose live lanes are `live`
  // arrive, or (`copies`) their asynchronous copies so far do; complete: the phase ends; acquire: `lanes` of a warp
  // have seen that it ended.
  void begin_mbarrier(std::uint64_t byte, std::uint32_t warp = 0, int lane = 0, std::uint32_t pc = 0);
  // What a lane finds that uses an mbarrier, if nothing orders it behind the thread that began it.
  std::optional<Finding> use_mbarrier(std::uint64_t byte, std::uint32_t warp, int lane) const;
  bool has_mbarrier(std::uint64_t byte) const { return mbarriers_.contains(byte); }
  void end_mbarrier(std::uint64_t byte);
  void arrive(std::uint64_t byte, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live, bool copies);
  void complete(std::uint64_t byte);
  void acquire(std::uint64_t byte, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live);

  // Asynchronous copies by lanes of a warp. commit_copies: closes the open group; wait_for_copies: waits for all closed
  // groups but the last `left`; wait_for_all_copies: waits for all.
  void commit_copies(std::uint32_t warp, std::uint32_t lanes);
  void wait_for_copies(std::uint32_t warp, std::uint32_t lanes, std::uint32_t left);
  void wait_for_all_copies(std::uint32_t warp, std::uint32_t lanes);

  // Fast path for a load or store of a whole warp in lockstep: `bytes` per lane at `first` plus `offsets`, in bounds
  // and aligned. If all earlier touches of these words are certainly ordered before this one, and no two lanes write
  // one word, records the touch and returns true. This holds for nearly every access. Otherwise records nothing and
  // returns false; the caller must then call touch().
  bool touch_in_lockstep(std::uint32_t warp, std::uint32_t pc, std::uint64_t first, const LaneOffsets& offsets,
                         std::uint32_t bytes, SharedTouch touch);
  // Like touch_in_lockstep(), for all loads of one side of a ProductRun, with addresses relative to `base`; `number`
  // identifies the side.
  bool read_in_lockstep(std::uint32_t warp, std::size_t number, std::uint64_t base, const LaneOffsets& offsets,
                        const ProductRun::Side& side);

 private:
  // The most bytes that locks may take: kLockBytes per byte of shared memory, but no less than kFewLockBytes. Beyond
  // that, all words share one lock.
  static constexpr std::size_t kLockBytes = 32, kFewLockBytes = 64 << 10;
  // Identifies a recorded touch; 0: none. From the high bits down: sequence number, flag for asynchronous copies,
  // warp.
  using Id = std::uint32_t;
  static constexpr int kWarpBits = 5, kIdShift = kWarpBits + 1;  // at most 32 warps per block
  static constexpr Id kCopy = 1u << kWarpBits, kWarpMask = kCopy - 1;
  static constexpr Id kForgotten = 1u << kIdShift;  // a touch that is ordered before everything that follows

  using Pattern = TouchPattern;
  using Record = TouchRecord;
  struct WarpClocks {
    explicit WarpClocks(std::size_t warps = 0) : known(warps) {}

    Clock now = 1;
    Clock touched = 0;           // when its lanes touched memory last, apart from arrivals at mbarriers
    std::uint32_t touchers = 0;  // lanes that have touched memory since `synced`
    Clock met = 0;               // all lanes are ordered after everything that any of them did before this time
    // The same, but for what only shuffles, votes, matches or reductions have ordered, which order no memory; and as an
    // Id: the Id of the first touch after that time.
    Clock synced = 0;
    Id synced_id = 0;
    // By [lane][other]: what `other` did before this time is ordered before `lane`. Empty unless some lanes have
    // synchronized without the others since `met`.
    std::vector<Clock> lanes;
    // The same without these exchanges, if there have been any since `synced`.
    bool exchanged = false;
    std::vector<Clock> synced_lanes;
    Knowledge known;         // for each warp: the time up to which it is ordered before all lanes of this warp
    KnowledgeOfLanes apart;  // what only some lanes know of other warps
    bool learned = false;    // `known` has grown since the last barrier of the whole block
    Knowledge fenced;        // `known` at the last fence; empty before the first
    Clock fenced_each = 0;   // each lane has fenced what it did itself up to this time
    // By lane: what the lane knew of its warp's lanes at its last fence. Empty unless some lanes have fenced without
    // the others since the last fence by all lanes.
    std::vector<LaneClocks> fenced_lanes;
    CopyGroups copies;
  };

  // fences.cpp
  // Called for an atomic by `lane`: publishes what the lane has fenced.
  void publish(std::uint32_t warp, int lane, std::size_t word);
  // Whoever acquires the lock has proof of what the lane has fenced.
  void prove_fenced(std::uint32_t warp, int lane, Knowledge& lock);
  // Of its own warp, what a lane has fenced and not all lanes may publish.
  static LaneClocks fenced_by(const WarpClocks& clocks, int lane);
  // Lanes of a warp meet: each may publish what any of them has fenced.
  void share_fences(WarpClocks& clocks, std::uint32_t warp, std::uint32_t lanes);

  // happens_before.cpp
  // Some lanes learn what a lock, a flag or an mbarrier tells of other warps.
  void learn(std::uint32_t warp, std::uint32_t lanes, std::uint32_t live, const Knowledge& told);
  // Passes on what some lanes know of their own warp. Returns how many rows of lanes were compared or copied.
  std::size_t tell_of_own(const WarpClocks& clocks, std::uint32_t warp, std::uint32_t lanes, Knowledge& to,
                          bool is_proven) const;
  // `learners`: the lanes that learn what the lock tells, if it is acquired: `lane` may do so for others. Returns
  // whether the lane has learned something of its own warp.
  bool order_by_lock(std::uint32_t warp, int lane, std::uint32_t learners, std::size_t word, SharedTouch touch,
                     const SharedWrites& writes);
  // A lane releases what it knows, and what it did.
  void release(std::uint32_t warp, int lane, bool relaxed, Knowledge& lock);
  // A lane learns what a lock has of other lanes of its own warp. Returns whether that was news.
  bool learn_of_own(std::uint32_t warp, int lane, std::size_t word);
  // If each lane of the warp knows the same of all others, this is as if they had met.
  void meet_if_all_know(std::uint32_t warp);
  Knowledge& lock_of(std::size_t word);
  // Counts the bytes by which a lock has grown since it had `rows_before` rows. If all locks together take too many
  // bytes, merges them into one.
  void count_lock(const Knowledge& lock, std::size_t rows_before);
  // The same for what an mbarrier is told.
  void count_rows(Knowledge& arriving, std::size_t rows_before);
  void forget_locks();
  // After a barrier of the whole block: every warp is ordered after all earlier touches, so drops the clocks that prove
  // it.
  void forget_what_all_know();

  Id next_id() const { return static_cast<Id>(first_kept_ + log_.size()) << kIdShift; }
  Id keep(const Record& record);
  // Whether a touch is an arrival at an mbarrier. It need not be ordered before anything.
  bool is_arrival(std::size_t word, SharedTouch touch) const { return touch == SharedTouch::atomic && is_gate(word); }
  bool is_gate(std::size_t word) const { return !mbarriers_.empty() && has_mbarrier(word << word_shift_ & ~7ull); }
  // Drops touches that no word refers to, and all touches before the last barrier of the whole block except
  // asynchronous copies.
  void forget_the_old();
  // Returns the recorded touch with this Id, with the lanes that touched this word.
  Record recall(Id id, std::size_t word) const;

  // Whether a recorded copy may not be over yet, for all that a lane knows.
  bool is_under_way(const Record& record, std::uint32_t warp, int lane) const;
  // Returns a lane of the recorded touch that is not ordered before `lane` of `warp`; -1: none.
  // `by_luck`: whether exchanges, and relaxed accesses without a fence, order.
  int rival(const Record& record, std::uint32_t warp, int lane, bool by_luck = true) const;
  // Whether the recorded touch of a word is certainly ordered before a touch by `lanes` of a warp.
  bool is_over(Id id, std::size_t word, std::uint32_t warp, std::uint32_t lanes) const;
  // Records a read or write if the word's earlier touches are certainly ordered before it, as they nearly always are.
  // Otherwise returns false; the caller must then call touch_closely().
  bool touch_in_order(std::size_t word, const Record& now, Id& id);
  bool words_in_order(std::size_t first, const Pattern& pattern, std::uint32_t warp, bool reads) const;
  // Tells what an Id alone proves: a touch is ordered before the present one if it came before the last barrier of the
  // block, or if it is by the same warp and came before the lanes of the warp last synchronized. Has no branches, so
  // that loops become vector code.
  struct Ages {
    Id block_met, met;
    std::uint32_t warp;
    unsigned is_own(Id id) const { return (id & kWarpMask) == warp; }
    unsigned surely_over(Id id) const {
      return static_cast<unsigned>((id & kCopy) == 0) &
             (static_cast<unsigned>(id < block_met) | (is_own(id) & static_cast<unsigned>(id < met)));
    }
  };
  // The words are `first` + word_of(i) for i < `count`.
  template <bool reads, class WordOf>
  bool surely_in_order(const Ages& ages, std::size_t first, std::size_t count, WordOf word_of) const;
  template <bool reads, class WordOf>
  void remember(Id id, const Ages& ages, std::size_t first, std::size_t count, WordOf word_of);
  Id keep_pattern(std::uint32_t warp, std::uint32_t pc, SharedTouch touch, std::size_t first, const Pattern& pattern);
  template <bool reads, std::size_t known_count, class WordOf>
  bool touch_words(std::uint32_t warp, std::uint32_t pc, std::size_t first, const Pattern& pattern, WordOf word_of);
  std::optional<Finding> check(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch,
                               const SharedWrites& writes, std::uint32_t pc) const;
  void note(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch, std::uint32_t pc, bool tells = false);
  // earlier_atomics.cpp: what an access other than an atomic finds of atomics in front of the latest one; and called
  // for a write that takes the place of the latest one: keeps that, or its lanes, if both are atomics.
  std::optional<Finding> check_earlier(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch) const;
  void keep_earlier(std::size_t word, bool tells, Record& now);
  // Checks and records one lane's touch of one word.
  std::optional<Finding> touch_closely(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch,
                                       const SharedWrites& writes, std::uint32_t pc);

  // The most bytes that times of single lanes may take at all mbarriers of the block: kMbarrierBytes per byte of shared
  // memory, which is enough for two phases of each in a block of eight warps half of whose memory is mbarriers, and no
  // less than kFewMbarriers take. Beyond that, arrivals of single lanes count as those of their warps
  // (Knowledge::blur_lanes()).
  static constexpr std::size_t kMbarrierBytes = 128, kFewMbarriers = 64;
  struct Mbarrier {
    // What the arriving warps knew, and the copies that arrive: `arriving` is for the warps that wait for the current
    // phase, `arrived` for those that wait for the previous one.
    Knowledge arriving, arrived;
    Record begun;  // arrivals that others have made since would hide it
  };

  std::uint64_t work_ = 0;  // for the next take_work()
  int word_shift_;          // from byte offset to word index
  std::size_t reserved_words_ = 0;
  // By word: the latest write; the latest read since that write; and an older read that a write may also race with.
  std::vector<Id> writes_, reads_, older_reads_;
  EarlierAtomics earlier_;
  UnsetWords unset_;
  std::vector<Record> log_;     // touches by number, beginning with first_kept_
  std::size_t first_kept_ = 0;  // the number of the first touch in log_
  std::size_t most_kept_ = 0;   // forget_the_old() runs at this size
  // The Id of the first touch after the last barrier of the whole block.
  Id whole_block_met_ = 0;
  Id began_ = 0;  // the Id of the first touch of the access that touch() checks
  std::shared_ptr<TouchPatterns> patterns_;
  std::vector<WarpClocks> warps_;
  std::unordered_map<std::size_t, Knowledge> locks_;  // by word: the vector clock that the next acquire joins
  std::size_t lock_bytes_ = 0, most_lock_bytes_;
  bool are_locks_one_ = false;                   // all words share the lock of word 0
  Knowledge barriers_[kBarriers];                // the vector clock that released warps join
  std::map<std::uint64_t, Mbarrier> mbarriers_;  // by byte offset
  std::size_t mbarrier_rows_ = 0, most_mbarrier_bytes_;
};

}  // namespace roofwalk::vgpu
