// How a thread touches a word of shared memory, as far as the race detector distinguishes it.
#pragma once

#include <cstdint>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// `copy` is a write by an asynchronous copy. Touches of the last four kinds do not race among themselves. The last
// three also synchronize: `lock`, a compare-and-swap that changes memory, acquires and releases; `publish`, such an
// exchange or a volatile store, only releases; `acquire`, a volatile load that polls, an acquire load whose value
// decides or picks something (lowering/analysis/polling.h), or a compare-and-swap that changes nothing, only acquires.
// `glance` is a volatile load that does not poll. It races with other warps' stores like a read, but not with their
// atomics; within its warp, such a race is one by luck. `guess` is a plain load for a compare-and-swap
// (lowering/analysis/guesses.h). It races with stores like a read, but not with atomics. `peek` is a relaxed or acquire
// load whose value tells nothing. It races with plain stores only.
enum class SharedTouch : std::uint32_t { read, glance, guess, peek, write, copy, atomic, lock, publish, acquire };
inline bool reads_only(SharedTouch touch) { return touch < SharedTouch::write || touch == SharedTouch::acquire; }
inline bool is_atomic(SharedTouch touch) { return touch >= SharedTouch::atomic; }
inline bool is_of_lock(SharedTouch touch) { return touch >= SharedTouch::lock; }

// Whether a read and another touch of the same word do not race, although nothing orders them.
inline bool bears(SharedTouch read, SharedTouch other, bool same_warp) {
  if (read == SharedTouch::peek) return is_atomic(other);
  if (read != SharedTouch::glance && read != SharedTouch::guess) return false;
  return (same_warp && read == SharedTouch::glance) || other == SharedTouch::atomic || other == SharedTouch::lock;
}

// `unchanged`: the lanes of a store that write the value that memory already holds. `replaced`: the lanes whose value
// is overwritten by a different value from another lane of the same instruction. `fetches`: the old value is used, too.
// `carries`: a load that may carry on what is in unwritten words, as it is followed from there (exec/follow_unset.h).
// `failed`: the lanes of a compare-and-swap that have left memory as it was, and so publish nothing.
// `learns`: an atomic that tells its thread what other threads' atomics have published there. `tells`: its value
// decides or picks something, so that its thread goes by what earlier atomics on the word have done. `relaxed`: an
// access that releases by itself nothing that was done before it. `live`: the lanes of the warp that have not ended.
struct SharedWrites {
  std::uint32_t unchanged = 0, replaced = 0, failed = 0, live = kAllLanes;
  bool fetches = false, carries = false, learns = false, tells = false, relaxed = false;

  // How a lane touches memory that its warp touches so.
  SharedTouch of_lane(SharedTouch touch, int lane) const {
    if (touch < SharedTouch::lock || (failed >> lane & 1u) == 0) return touch;
    return touch == SharedTouch::publish ? SharedTouch::atomic : SharedTouch::acquire;
  }
};

}  // namespace roofwalk::vgpu
