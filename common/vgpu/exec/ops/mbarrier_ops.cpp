// mbarrier: barrier objects in shared memory, for threads and for asynchronous copies. PTX leaves the contents of their
// 8 bytes open; here they hold the phase's parity, the number of expected arrivals and the number of arrivals still
// missing. The state that an arrival returns is the contents of the object before that arrival. The lanes of one
// instruction arrive one after another, in order of their numbers, so that a phase may end between two of them.
//
// An operation counts as an access of 8 bytes to shared memory: a wait as a load, an arrival as an atomic, so that
// lanes that arrive at one object take a wavefront each, all others as a store. Copies are made at once, so they also
// arrive at once; the timing model adds the cost of waiting. To this end, a completed wait records how many of the
// warp's batches of copies the awaited phase did not cover. A batch ends at a commit and at an arrival of copies.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/vgpu/exec/giving_way.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/requests/shared_memory.h"
#include "common/vgpu/requests/sync_points.h"
#include "common/vgpu/sanitizer/checked_access.h"

namespace roofwalk::vgpu {
namespace {

using ptx::MbarrierMode;

constexpr std::uint64_t kMostArrivals = (1u << 20) - 1;

struct State {
  std::uint64_t bits = 0;

  std::uint64_t missing() const { return bits & kMostArrivals; }
  std::uint64_t expected() const { return bits >> 20 & kMostArrivals; }
  std::uint64_t parity() const { return bits >> 63; }
};

State make_state(std::uint64_t parity, std::uint64_t expected, std::uint64_t missing) {
  return {parity << 63 | expected << 20 | missing};
}

State load_state(const std::uint8_t* from) {
  State state;
  std::memcpy(&state.bits, from, sizeof state.bits);
  return state;
}

void store_state(std::uint8_t* to, State state) { std::memcpy(to, &state.bits, sizeof state.bits); }

// False, with a fault, in a sanitized run if a lane names bytes that mbarrier.init has not made an mbarrier, or may not
// have made one yet.
bool are_mbarriers(Launch& launch, const Warp& warp, const Op* op, const Access& access, SharedTouch touch) {
  if (warp.block->shadow == nullptr || op->instruction->mbarrier == MbarrierMode::init) return true;
  for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t byte = access.of(lane);
    if (warp.block->shadow->has_mbarrier(byte)) {
      if (!check_mbarrier(launch, warp, op, byte, lane, touch)) return false;
      continue;
    }
    launch.stop(warp, op, FaultKind::uninitialized, lane,
                fmt::format("uninitialized: uses {} as an mbarrier, which mbarrier.init has not made one",
                            shared_place(launch.program, *op->instruction, byte)));
    return false;
  }
  return true;
}

// Finds the lanes' objects, checks bounds, counts the access, and calls the sanitizer.
bool reach(Launch& launch, const Warp& warp, const Op* op, SharedUse use, SharedTouch touch, Access& access,
           Pointers& at) {
  make_access(warp, op, op->count == 8, sizeof(State), access);
  access.spell_out();
  const bool generic = op->instruction->space == ptx::Space::generic;
  if (generic && (access.low < kSharedWindow || access.high >= kSharedWindow + kWindowBytes)) {
    launch.stop(warp, op, FaultKind::out_of_bounds, -1, "out of bounds: an mbarrier must lie in shared memory");
    return false;
  }
  if (!resolve_shared(launch, warp, op, access, "uses an mbarrier of", at)) return false;
  if (is_memory(*op->instruction)) count_shared(launch, warp, op, access, use);
  return check_shared(launch, warp, op, access, touch) && are_mbarriers(launch, warp, op, access, touch);
}

// Calls visit(byte, lanes) once for each object that active lanes name.
template <class Visit>
void for_each_object(const Access& access, Visit&& visit) {
  for (std::uint32_t left = access.mask; left != 0;) {
    const std::uint64_t byte = access.of(std::countr_zero(left));
    std::uint32_t lanes = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      lanes |= access.of(lane) == byte ? 1u << lane : 0u;
    }
    visit(byte, lanes);
    left &= ~lanes;
  }
}

void begin_phase(ResidentBlock& block, MbarrierPhases& phases) {
  phases.over = phases.open;
  phases.over_clock = std::exchange(phases.open_clock, {});
  phases.open = ++block.sync_points;
}

void complete(Warp& warp, std::uint64_t byte) {
  ResidentBlock& block = *warp.block;
  ++block.phases;
  const auto phases = block.mbarrier_phases.find(byte);
  if (phases != block.mbarrier_phases.end()) begin_phase(block, phases->second);
  if (block.shadow != nullptr) block.shadow->complete(byte);
  const auto copies = block.mbarrier_copies.find(byte);
  if (copies != block.mbarrier_copies.end()) copies->second.arrived = copies->second.arriving;
}

// Returns the number of the last write of a flag to the word of shared memory at `byte`; 0: none.
std::uint32_t last_flag_write(const ResidentBlock& block, std::uint64_t byte) {
  const std::uint64_t word = byte / sizeof(std::uint32_t);
  return word < block.flags.size() ? block.flags[word].number : 0;
}

// If an instruction other than an arrival has changed the object last, what a wait sees is that change.
void note_change_of_object(Launch& launch, Warp& warp, const Op* op, std::uint64_t byte) {
  const auto phases = warp.block->mbarrier_phases.find(byte);
  const std::uint32_t arrival = phases == warp.block->mbarrier_phases.end() ? 0 : phases->second.arrival;
  for (std::uint64_t word = byte; word < byte + sizeof(State); word += sizeof(std::uint32_t)) {
    if (last_flag_write(*warp.block, word) != arrival) note_flag_read(launch, warp, op, word, sizeof(std::uint32_t));
  }
}

// The arrivals of the lanes of one instruction, one by one: those behind the lane that completes a phase arrive at the
// next one.
class Arrivals {
 public:
  // `copies`: it is the lanes' asynchronous copies that arrive.
  Arrivals(Launch& launch, Warp& warp, const Op* op, const Access& access, const Pointers& at, bool copies)
      : launch_(launch), warp_(warp), op_(op), access_(access), at_(at), copies_(copies), untold_(access.mask) {}

  // Makes a lane arrive `count` times, after raising the number of arrivals that the phase expects by `raise`. `before`
  // receives the state before both. False, with a fault recorded, if there are more arrivals than the phase expects.
  bool arrive(int lane, std::uint64_t count, std::uint64_t raise, bool drop, State& before) {
    const std::uint64_t byte = access_.of(lane);
    std::uint8_t* const object = at_.of(access_, lane);
    if (warp_.block->follows_flags) note(byte);
    before = load_state(object);
    const std::uint64_t missing = before.missing() + raise, expected = before.expected() - (drop ? count : 0);
    if (count == 0 || count > missing || (drop && count > before.expected())) {
      launch_.stop(warp_, op_, FaultKind::barrier_deadlock, lane,
                   fmt::format("barrier: {} arrivals at an mbarrier that waits for {} more in this phase: was it "
                               "initialised with the number of threads that arrive?",
                               count, before.missing()));
      return false;
    }
    if (missing != count) {
      store_state(object, make_state(before.parity(), expected, missing - count));
      return true;
    }
    store_state(object, make_state(before.parity() ^ 1u, expected, expected));
    tell(byte, access_.mask & ((2u << lane) - 1));
    complete(warp_, byte);
    return true;
  }

  // Called behind the last lane.
  void finish() {
    if (untold_ != 0) for_each_object(access_, [&](std::uint64_t byte, std::uint32_t lanes) { tell(byte, lanes); });
  }

 private:
  void note(std::uint64_t byte) {
    note_arrival(launch_, warp_, op_, byte, sizeof(std::uint64_t));
    const auto phases = warp_.block->mbarrier_phases.find(byte);
    if (phases == warp_.block->mbarrier_phases.end()) return;
    note_sync_point(launch_, warp_, op_, phases->second.open, SyncPoint::Kind::arrives);
    phases->second.arrival = last_flag_write(*warp_.block, byte);
    // Copies have taken as long as loads that L2 serves.
    const int copied = copies_ ? launch_.machine.l2_latency_cycles : 0;
    PathClock arrival = warp_.path.now();
    arrival.cycles += static_cast<std::uint64_t>(copied);
    arrival.of_grid += copied;
    phases->second.open_clock.raise_to(arrival);
  }

  // Tells the sanitizer of those of the lanes that have arrived at this object, and of which it has not been told yet.
  void tell(std::uint64_t byte, std::uint32_t lanes) {
    std::uint32_t here = 0;
    for (std::uint32_t left = lanes & untold_; left != 0; left &= left - 1)
      here |= access_.of(std::countr_zero(left)) == byte ? left & -left : 0u;
    untold_ &= ~here;
    if (here != 0 && warp_.block->shadow != nullptr)
      warp_.block->shadow->arrive(byte, warp_.index, here, warp_.live, copies_);
  }

  Launch& launch_;
  Warp& warp_;
  const Op* op_;
  const Access& access_;
  const Pointers& at_;
  bool copies_;
  std::uint32_t untold_;
};

const Op* op_init(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  Pointers at;
  if (!reach(launch, warp, op, SharedUse::store, SharedTouch::write, access, at)) return nullptr;
  const std::uint32_t* counts = warp.lanes<std::uint32_t>(op->s[1]);
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    if (counts[l] == 0 || counts[l] > kMostArrivals) {
      return launch.stop(
          warp, op, FaultKind::barrier_deadlock, l,
          fmt::format("barrier: an mbarrier for {} arrivals: it takes 1 to {}", counts[l], kMostArrivals));
    }
    store_state(at.of(access, l), make_state(0, counts[l], counts[l]));
    warp.block->mbarrier_copies.erase(access.of(l));
    ++warp.block->phases;  // whoever waited for the phase before sees another parity
    if (warp.block->follows_flags) {
      MbarrierPhases& phases = warp.block->mbarrier_phases[access.of(l)] = {};
      begin_phase(*warp.block, phases);
    }
    if (warp.block->shadow != nullptr) warp.block->shadow->begin_mbarrier(access.of(l), warp.index, l, op->pc);
  }
  return op + 1;
}

// mbarrier.inval. The object's contents are undefined afterwards.
const Op* op_inval(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  Pointers at;
  if (!reach(launch, warp, op, SharedUse::store, SharedTouch::publish, access, at)) return nullptr;
  for_each_object(access, [&](std::uint64_t byte, std::uint32_t) {
    if (warp.block->follows_flags) note_arrival(launch, warp, op, byte, sizeof(State));
    if (warp.block->shadow != nullptr) warp.block->shadow->end_mbarrier(byte);
    store_state(warp.block->shared.data() + byte, {});
  });
  return op + 1;
}

const Op* op_arrive(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  Pointers at;
  if (!reach(launch, warp, op, SharedUse::atomic, SharedTouch::atomic, access, at)) return nullptr;
  Arrivals arrivals(launch, warp, op, access, at, false);
  const bool drop = op->instruction->mbarrier == MbarrierMode::arrive_drop;
  const std::uint32_t* counts = op->s[1] == kNoSlot ? nullptr : warp.lanes<std::uint32_t>(op->s[1]);
  std::uint64_t* states = op->s[0] == kNoSlot ? nullptr : warp.lanes<std::uint64_t>(op->s[0]);
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    State before;
    const std::uint64_t count = counts == nullptr ? 1 : counts[l];
    if (!arrivals.arrive(l, count, 0, drop, before)) return nullptr;
    if (states != nullptr) states[l] = before.bits;
  }
  arrivals.finish();
  return op + 1;
}

// The result is true when the phase given by the state or the parity is over.
const Op* op_wait(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  Pointers at;
  if (!reach(launch, warp, op, SharedUse::load, SharedTouch::acquire, access, at)) return nullptr;
  std::uint32_t over = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    const std::uint64_t meant = op->instruction->parity ? warp.lanes<std::uint32_t>(op->s[1])[l] & 1u
                                                        : State{warp.lanes<std::uint64_t>(op->s[1])[l]}.parity();
    if (load_state(at.of(access, l)).parity() != meant) over |= 1u << l;
  }
  for_each_object(access, [&](std::uint64_t byte, std::uint32_t lanes) {
    if (over == 0) return;
    // Whoever does not look whether the phase is over goes on all the same if it is not.
    if (warp.block->shadow != nullptr && op->decides && (lanes & over) != 0)
      warp.block->shadow->acquire(byte, warp.index, lanes & over, warp.live);
    const auto phases = warp.block->mbarrier_phases.find(byte);
    if (phases != warp.block->mbarrier_phases.end() && phases->second.over != 0) {
      warp.path.wait_until(phases->second.over_clock);
      note_sync_point(launch, warp, op, phases->second.over, SyncPoint::Kind::waits);
    }
    if (warp.block->follows_flags) note_change_of_object(launch, warp, op, byte);
    const auto copies = warp.block->mbarrier_copies.find(byte);
    if (warp.trace == nullptr || copies == warp.block->mbarrier_copies.end()) return;
    const std::uint32_t waited = copies->second.arrived[warp.index];
    if (waited != 0) add_to(warp.outcome(op).copies, 1 + warp.copy_batches - waited);
  });
  note_poll(warp, over == 0);
  set_predicate(warp.predicate(op->s[0]), warp.mask, over);
  if (over != 0 || op->instruction->mbarrier == MbarrierMode::test_wait) return op + 1;
  warp.next = op + 1;  // ends the turn
  return nullptr;
}

const Op* op_pending_count(Launch&, Warp& warp, const Op* op) {
  const std::uint64_t* states = warp.lanes<std::uint64_t>(op->s[1]);
  for_lanes(warp.lanes<std::uint32_t>(op->s[0]), warp.mask,
            [&](int l) { return static_cast<std::uint32_t>(State{states[l]}.missing()); });
  return op + 1;
}

const Op* op_arrive_of_copies(Launch& launch, Warp& warp, const Op* op) {
  Access access;
  Pointers at;
  if (!reach(launch, warp, op, SharedUse::store, SharedTouch::atomic, access, at)) return nullptr;
  ResidentBlock& block = *warp.block;
  ++warp.copy_batches;
  if (warp.trace != nullptr && access.mask != 0) warp.outcome(op).shared_wavefronts = 1;  // shows that it executed
  for_each_object(access, [&](std::uint64_t byte, std::uint32_t) {
    MbarrierCopies& copies = block.mbarrier_copies[byte];
    copies.arriving.resize(block.warps.size());
    copies.arrived.resize(block.warps.size());
    copies.arriving[warp.index] = warp.copy_batches;
  });
  // Without .noinc, the phase expects one more arrival: this one.
  const std::uint64_t raise = op->instruction->no_increment ? 0 : 1;
  Arrivals arrivals(launch, warp, op, access, at, true);
  for (int l = 0; l < kWarpSize; ++l) {
    if ((access.mask >> l & 1u) == 0) continue;
    State before;
    if (!arrivals.arrive(l, 1, raise, false, before)) return nullptr;
  }
  arrivals.finish();
  return op + 1;
}

}  // namespace

Handler mbarrier_handler(const ptx::Instruction& in) {
  switch (in.mbarrier) {
    case MbarrierMode::init:
      return op_init;
    case MbarrierMode::inval:
      return op_inval;
    case MbarrierMode::arrive:
    case MbarrierMode::arrive_drop:
      return op_arrive;
    case MbarrierMode::test_wait:
    case MbarrierMode::try_wait:
      return op_wait;
    case MbarrierMode::pending_count:
      return op_pending_count;
    case MbarrierMode::none:
      break;
  }
  return nullptr;
}

Handler mbarrier_arrive_of_copies_handler() { return op_arrive_of_copies; }

}  // namespace roofwalk::vgpu
