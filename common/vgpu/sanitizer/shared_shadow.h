// What the sanitizer knows of a block's shared memory: who touched each word last, and whether the threads have met
// since. Kept only where a run asks for it; counts and results are the same with it and without.
//
// Found: reads of which no byte was written by anybody; two threads that touch a word, one of them writing, with
// nothing between them that orders them (a barrier of the block, a __syncwarp, shuffle, vote, match or reduction whose
// mask names both, a lock, an mbarrier, an atomic behind a fence); reads of what an asynchronous copy may still be
// writing; two lanes that write different values to one word in one instruction. Two writes of one value are a warning,
// but for those of one instruction.
//
// Not found: a write that races with one of more than two reads of a word, each by another warp or another instruction
// (of those, two are remembered); races that only another order of the warps would show, where a lock or an mbarrier
// happened to order them; races in global memory; uses of an mbarrier's own 8 bytes by plain loads. Atomics and
// volatile accesses do not race with each other. Elsewhere: reads of global memory that nobody wrote (memory.h), of
// local memory of which no byte that they read was written (local_memory.h; registers are not watched), masks that name
// threads which are not there (members.h), and barriers that some threads of a warp go around (standing.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/vgpu/requests/access.h"
#include "common/vgpu/requests/memory_moves.h"
#include "common/vgpu/requests/shared_memory.h"

namespace roofwalk::vgpu {

// copy: by an asynchronous copy. The last three do not race among themselves, and those of locks and flags order what
// lies around them: `lock` compares and swaps; `publish` exchanges or is a volatile store, which tells and does not
// learn; `acquire` is a volatile load, which learns.
enum class SharedTouch : std::uint32_t { read, write, copy, atomic, lock, publish, acquire };
inline bool reads_only(SharedTouch touch) { return touch == SharedTouch::read || touch == SharedTouch::acquire; }

// Of a store: lanes that write what is there already, and lanes whose value another lane of the same instruction
// replaced by another one.
struct SharedWrites {
  std::uint32_t unchanged = 0, replaced = 0;
};

class SharedShadow {
 public:
  // Accesses are told apart in words of `word_bytes`: 1, 2 or 4.
  SharedShadow(std::uint32_t bytes, std::uint32_t word_bytes, std::uint32_t warps);

  void begin_block();

  struct Finding {
    enum class Kind { uninitialized, race, missing_wait, same_value, together } kind = Kind::race;
    int lane = 0;
    std::uint64_t byte = 0;    // of shared memory
    std::uint32_t thread = 0;  // the other one's number in the block; of no meaning for `uninitialized`
    std::uint32_t pc = 0;      // what the other one did
    SharedTouch touch = SharedTouch::read;
  };
  // A warp touches shared memory, within its bounds. The first lane with trouble, if there is one; a mere warning does
  // not keep the touch from counting.
  std::optional<Finding> touch(std::uint32_t warp, std::uint32_t pc, const Access& access, SharedTouch touch,
                               const SharedWrites& writes = {});

  // A warp comes to a barrier of the block; later it opens. `waiting`: who goes on from it; `gone`: who has ended and
  // counts as having come.
  void come_to_barrier(int barrier, std::uint32_t warp);
  void leave_barrier(int barrier, std::span<const std::uint32_t> waiting, std::span<const std::uint32_t> gone);
  // Lanes of a warp meet.
  void meet_in_warp(std::uint32_t warp, std::uint32_t lanes = kAllLanes);

  // A fence by some lanes of a warp, of those that live. Whoever later sees what atomics of these lanes made sees what
  // came before the fence: of these lanes everything, of the others what came before the warp last met.
  void fence(std::uint32_t warp, std::uint32_t lanes, std::uint32_t live);
  // A warp sees what others have made of these words by atomics.
  void see(std::uint32_t warp, const Access& access);

  // An mbarrier, by its place in shared memory: a warp arrives, itself or (`copies`) when its asynchronous copies so
  // far are there; all have arrived; a warp finds that out.
  void begin_mbarrier(std::uint64_t byte);
  void end_mbarrier(std::uint64_t byte);
  void arrive(std::uint64_t byte, std::uint32_t warp, bool copies);
  void complete(std::uint64_t byte);
  void acquire(std::uint64_t byte, std::uint32_t warp);

  // Asynchronous copies of a warp: the open group is closed; all but the last `left` closed groups are waited for.
  void commit_copies(std::uint32_t warp);
  void wait_for_copies(std::uint32_t warp, std::uint32_t left);
  void wait_for_all_copies(std::uint32_t warp);

  // A load or store of a whole warp in lockstep, whose lanes lie as `steps` from `first` on, `bytes` each, within
  // bounds and aligned: true, and it counts, where everything before it on these words came before it for sure and no
  // two lanes write one word, which is what nearly every access is. False: nothing is noted, touch() has to look.
  bool touch_in_lockstep(std::uint32_t warp, std::uint32_t pc, std::uint64_t first, const Steps& steps,
                         std::uint32_t bytes, SharedTouch touch);
  // The same for all loads of one side of a ProductRun, words from `base` on; `number`: one that this side alone has.
  bool read_in_lockstep(std::uint32_t warp, std::size_t number, std::uint64_t base, const Steps& steps,
                        const ProductRun::Side& side);

 private:
  // Time is counted for each warp; it goes on where the warp meets others.
  using Clock = std::uint32_t;
  // Of a touch that is kept: from high to low its number in the order of all touches, whether it is of an asynchronous
  // copy, its warp. 0: nobody's.
  using Id = std::uint32_t;
  static constexpr int kWarpBits = 5, kIdShift = kWarpBits + 1;  // 32 warps a block at most
  static constexpr Id kCopy = 1u << kWarpBits, kWarpMask = kCopy - 1;
  static constexpr Id kForgotten = 1u << kIdShift;  // came before everything that is to come

  // The words that the lanes of an instruction touch, or those of several, from the lowest on, and who touches each.
  struct Pattern {
    std::vector<std::uint32_t> words, lanes;
    std::vector<std::uint32_t> pcs = {};  // of several: which of them touches each word
    struct Stretch {
      std::uint32_t first = 0, count = 0;
    };
    std::vector<Stretch> stretches = {};  // of the words: such that lie side by side
    bool apart = false;                   // no word is touched by two lanes
    bool is_contiguous() const { return stretches.size() == 1; }
  };
  struct Record {
    Clock clock = 0;  // of a copy: the number of its group
    std::uint32_t pc = 0;
    std::uint32_t lanes = 0;  // of the warp, that did it; with a pattern: those of the pattern
    std::uint32_t warp = 0;
    SharedTouch touch = SharedTouch::read;
    const Pattern* pattern = nullptr;
    std::size_t first_word = 0;  // of the pattern
  };
  // What has happened for sure, up to these times.
  struct Knowledge {
    explicit Knowledge(std::size_t warp_count = 0) : warps(warp_count) {}
    void join(const Knowledge& other);

    std::vector<Clock> warps;  // by warp, of all its lanes
    // [warp][lane]: more than that of single lanes; empty until some lanes of a warp have fenced without the others.
    std::vector<Clock> lanes = {};
    Clock of_lane(std::uint32_t warp, int lane) const {
      const Clock own = lanes.empty() ? 0 : lanes[warp * kWarpSize + static_cast<std::uint32_t>(lane)];
      return std::max(warps[warp], own);
    }
  };
  struct WarpClocks {
    Clock now = 1;
    Clock met = 0;                // the warp's lanes know of each other what came before
    Id met_id = 0;                // the same: the number of the first touch after it
    std::vector<Clock> lanes;     // [lane][other]: what one lane knows of another; empty until only some have met
    Knowledge known;
    bool learned = false;         // something of that since the whole block met
    Knowledge fenced;             // what was known at the last fence; without warps: there was none
    std::vector<Clock> waited;    // by group of copies: when it was waited for
    std::uint32_t committed = 0;  // groups
  };

  // happens_before.cpp
  // An atomic by this lane makes known what was fenced.
  void publish(std::uint32_t warp, int lane, std::size_t word);
  void order_by_lock(std::uint32_t warp, std::size_t word, SharedTouch touch);

  Id next_id() const { return static_cast<Id>(first_kept_ + log_.size()) << kIdShift; }
  Id keep(const Record& record);
  // Lets go of touches that no word remembers, and of all before the last barrier of the whole block.
  void forget_the_old();
  // The touch of that number, with the lanes that touched this word.
  Record recall(Id id, std::size_t word) const;

  bool is_under_way(const Record& record) const;
  // The lane of a record that a lane of a warp does not know to be over; -1: none.
  int rival(const Record& record, std::uint32_t warp, int lane) const;
  // Whether a touch of a word was over for sure when `lanes` of a warp touch it.
  bool is_over(Id id, std::size_t word, std::uint32_t warp, std::uint32_t lanes) const;
  // What nearly every read and write is: of a word whose touches were all over for sure. False: look closely.
  bool touch_in_order(std::size_t word, const Record& now, Id& id);
  bool words_in_order(std::size_t first, const Pattern& pattern, std::uint32_t warp, bool reads) const;
  // What numbers alone tell of most touches: that they are over, before the last barrier of the block, or by this warp
  // before its lanes met. In arithmetic without branches, for vectors.
  struct Ages {
    Id block_met, met;
    std::uint32_t warp;
    unsigned is_own(Id id) const { return (id & kWarpMask) == warp; }
    unsigned surely_over(Id id) const {
      return static_cast<unsigned>((id & kCopy) == 0) &
             (static_cast<unsigned>(id < block_met) | (is_own(id) & static_cast<unsigned>(id < met)));
    }
  };
  // Word i, of `count`, is word_of(i) from the first on.
  template <bool reads, class WordOf>
  bool surely_in_order(const Ages& ages, std::size_t first, std::size_t count, WordOf word_of) const;
  template <bool reads, class WordOf>
  void remember(Id id, const Ages& ages, std::size_t first, std::size_t count, WordOf word_of);
  Id keep_pattern(std::uint32_t warp, std::uint32_t pc, SharedTouch touch, std::size_t first, const Pattern& pattern);
  template <bool reads, std::size_t known_count, class WordOf>
  bool touch_words(std::uint32_t warp, std::uint32_t pc, std::size_t first, const Pattern& pattern, WordOf word_of);
  // Of loads, or one store, of whole warps; without words where two of them touch one word by different lanes.
  std::unique_ptr<const Pattern> make_pattern(std::span<const ProductRun::Load> loads, std::int64_t low,
                                              const Steps& steps, std::uint32_t bytes) const;
  const Pattern& pattern_of(std::uint32_t pc, const Steps& steps, std::uint32_t bytes);
  std::optional<Finding> check(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch, bool unchanged,
                               std::uint32_t pc) const;
  void note(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch, std::uint32_t pc);
  // One lane's touch of one word, looked at closely.
  std::optional<Finding> touch_closely(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch,
                                       const SharedWrites& writes, std::uint32_t pc);

  struct Mbarrier {
    Knowledge arriving, arrived;                                  // known to who waits for this phase, for the last one
    std::vector<std::pair<std::uint32_t, std::uint32_t>> copies;  // of this phase: warp, its groups up to there
  };

  int word_shift_;  // of a byte's place, to its word's
  // By word: the latest write; the latest read since then, and one before it that may race with a write as well.
  std::vector<Id> writes_, reads_, older_reads_;
  std::vector<Record> log_;                               // touches by number, from first_kept_ on
  std::size_t first_kept_ = 0;                            // number
  std::size_t most_kept_ = 0;                             // then it is time to forget
  Id whole_block_met_ = 0;                                // the number of the first touch after it
  std::vector<std::unique_ptr<const Pattern>> patterns_;  // by pc
  std::vector<std::unique_ptr<const Pattern>> sides_;     // of runs of products; empty: to be looked at one by one
  std::vector<WarpClocks> warps_;
  std::map<std::size_t, Knowledge> locks_;           // by word: what is known to who takes it next
  Knowledge barriers_[kBarriers];                    // what is known to who goes on from there
  std::map<std::uint64_t, Mbarrier> mbarriers_;      // by byte
};

// race_report.cpp. As SharedShadow::touch of the warp's block, if it keeps one; false with the fault recorded.
bool check_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedTouch touch,
                  const SharedWrites& writes = {});

// Whether somebody looks at what this warp does to shared memory. Asks the launch first, which the host has at hand.
inline bool is_watched(const Launch& launch, const Warp& warp) {
  return launch.sanitized && warp.block->shadow != nullptr;
}

// Of a load or store in lockstep that is watched: whether it is of the kind that needs no closer look, which is noted
// then.
inline bool touches_in_order(const Warp& warp, const Op* op, std::uint64_t first, const Steps& steps,
                             std::uint32_t bytes, SharedTouch touch) {
  return !op->instruction->is_volatile &&
         warp.block->shadow->touch_in_lockstep(warp.index, op->pc, first, steps, bytes, touch);
}

// A load or store of shared memory under the sanitizer's eyes. It looks at stores when they are done: whether they
// changed anything.
template <bool store>
const Op* move_checked(Launch& launch, Warp& warp, const Op* op, const Access& access, const Pointers& at,
                       Mover mover) {
  const auto move = [&](const Access& to, const Pointers& pointers) { mover(warp, op, to, pointers); };
  const bool is_volatile = op->instruction->is_volatile;
  if constexpr (!store) {
    if (!check_shared(launch, warp, op, access, is_volatile ? SharedTouch::acquire : SharedTouch::read)) return nullptr;
    move(access, at);
  } else {
    LaneBytes own;
    move(access, own.pointers(access));
    SharedWrites writes;
    for (int l = 0; l < kWarpSize; ++l) {
      const bool active = (access.mask >> l & 1u) != 0;
      if (active && std::memcmp(own.lane(l, access.bytes), at.of(access, l), access.bytes) == 0)
        writes.unchanged |= 1u << l;
    }
    move(access, at);
    for (int l = 0; l < kWarpSize; ++l) {
      const bool active = (access.mask >> l & 1u) != 0;
      if (active && std::memcmp(own.lane(l, access.bytes), at.of(access, l), access.bytes) != 0)
        writes.replaced |= 1u << l;
    }
    if (!check_shared(launch, warp, op, access, is_volatile ? SharedTouch::publish : SharedTouch::write, writes))
      return nullptr;
  }
  return op + 1;
}

}  // namespace roofwalk::vgpu
