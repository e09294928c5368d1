// What the sanitizer knows of a block's shared memory: who touched each word last, and whether the threads have met
// since. Kept only where a run asks for it; counts and results are the same with it and without.
//
// Found: words that are read before anybody wrote them; two threads that touch a word, one of them writing, with
// nothing between them that orders them (a barrier of the block, a __syncwarp, shuffle, vote, match or reduction whose
// mask names both, a lock, an mbarrier); reads of what an asynchronous copy may still be writing; two lanes that write
// different values to one word in one instruction. Two writes of one value are a warning, but for those of one
// instruction.
//
// Not found: a write that races with one of more than two reads of a word, each by another warp or another instruction
// (of those, two are remembered); races that only another order of the warps would show, where a lock or an mbarrier
// happened to order them; races in global memory; uses of an mbarrier's own 8 bytes by plain loads. Atomics and
// volatile accesses do not race with each other. Elsewhere: reads of global memory that nobody wrote (memory.h), of
// local memory of which no byte that they read was written (near_memory.h; registers are not watched), and masks that
// name threads which are not there (members.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/vgpu/access.h"
#include "common/vgpu/memory_moves.h"

namespace roofwalk::vgpu {

// copy: by an asynchronous copy. The last three do not race among themselves, and those of locks and flags order what
// lies around them: `lock` compares and swaps, `publish` exchanges or is a volatile store, `acquire` a volatile load.
enum class SharedTouch : std::uint32_t { read, write, copy, atomic, lock, publish, acquire };

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

  // An mbarrier, by its place in shared memory: a warp arrives, itself or (`copies`) when its asynchronous copies so
  // far are there; all have arrived; a warp finds that out.
  void begin_mbarrier(std::uint64_t byte);
  void end_mbarrier(std::uint64_t byte);
  bool is_mbarrier(std::uint64_t byte) const { return mbarriers_.contains(byte); }
  void arrive(std::uint64_t byte, std::uint32_t warp, bool copies);
  void complete(std::uint64_t byte);
  void acquire(std::uint64_t byte, std::uint32_t warp);

  // Asynchronous copies of a warp: the open group is closed; all but the last `left` closed groups are waited for.
  void commit_copies(std::uint32_t warp);
  void wait_for_copies(std::uint32_t warp, std::uint32_t left);
  void wait_for_all_copies(std::uint32_t warp);

 private:
  // Time is counted for each warp; it goes on where the warp meets others.
  using Clock = std::uint32_t;

  struct alignas(16) Record {  // without gaps, for it is copied with every touch
    Clock clock = 0;           // 0: nobody yet. Of a copy: the number of its group
    std::uint32_t pc = 0;
    std::uint32_t lanes = 0;  // of the warp, that did it
    std::uint32_t warp : 24 = 0;
    SharedTouch touch : 8 = SharedTouch::read;
  };
  struct Word {
    Record write, reads[2];  // the latest read, and one before it that may race with a write as well
  };
  struct WarpClocks {
    Clock now = 1;
    Clock met = 0;                // the warp's lanes know of each other what came before
    std::vector<Clock> lanes;     // [lane][other]: what one lane knows of another; empty until only some have met
    std::vector<Clock> known;     // by warp: what has happened there for sure, up to this time
    std::vector<Clock> waited;    // by group of copies: when it was waited for
    std::uint32_t committed = 0;  // groups
  };

  bool is_under_way(const Record& record) const;
  // The lane of a record that a lane of a warp does not know to be over; -1: none.
  int rival(const Record& record, std::uint32_t warp, int lane) const;
  // What nearly every read and write is: of a word whose records all came before it for sure. False: look closely.
  static bool touch_in_order(Word& word, const Record& now, const WarpClocks& clocks);
  std::optional<Finding> check(Word& word, std::uint32_t warp, int lane, SharedTouch touch, bool unchanged,
                               std::uint32_t pc) const;
  void record(Word& word, std::uint32_t warp, int lane, SharedTouch touch, std::uint32_t pc);
  // One lane's touch of one word, looked at closely.
  std::optional<Finding> touch_closely(std::size_t word, std::uint32_t warp, int lane, SharedTouch touch,
                                       const SharedWrites& writes, std::uint32_t pc);
  void order_by_lock(std::uint32_t warp, std::size_t word);

  struct Mbarrier {
    std::vector<Clock> arriving, arrived;                         // known to who waits for this phase, for the last one
    std::vector<std::pair<std::uint32_t, std::uint32_t>> copies;  // of this phase: warp, its groups up to there
  };

  int word_shift_;  // of a byte's place, to its word's
  std::vector<Word> words_;
  std::vector<WarpClocks> warps_;
  std::map<std::size_t, std::vector<Clock>> locks_;  // by word: what is known to who takes it next
  std::vector<Clock> barriers_[kBarriers];           // what is known to who goes on from there
  std::map<std::uint64_t, Mbarrier> mbarriers_;      // by byte
};

// The widest words that tell all accesses of a kernel to shared memory apart. In bytes.
std::uint32_t shared_word_bytes(const ptx::Function& function);

// As SharedShadow::touch of the warp's block, if it keeps one; false with the fault recorded.
bool check_shared(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedTouch touch,
                  const SharedWrites& writes = {});

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

// Where a byte of shared memory lies: "element 1 of tile", in elements as the instruction takes them; bytes where it
// lies between two. What lies past the end belongs to the last variable, what lies before the start to the first.
std::string shared_place(const Program& program, const ptx::Instruction& in, std::uint64_t byte);

}  // namespace roofwalk::vgpu
