// Handlers of control flow: block entry and reconvergence, branches, exits, barriers, guards.
#include <algorithm>
#include <bit>
#include <span>

#include <fmt/format.h>

#include "common/vgpu/exec/divergent_barrier.h"
#include "common/vgpu/exec/divergent_syncwarp.h"
#include "common/vgpu/exec/giving_way.h"
#include "common/vgpu/exec/lockstep/lockstep.h"
#include "common/vgpu/exec/ops/handlers.h"
#include "common/vgpu/exec/ops/members.h"
#include "common/vgpu/requests/global_flow.h"
#include "common/vgpu/requests/lanes.h"
#include "common/vgpu/sanitizer/checked_access.h"
#include "common/vgpu/sanitizer/watched_blocks.h"
#include "common/vgpu/state/work.h"

namespace roofwalk::vgpu {
namespace {

using ptx::BarrierMode;

// Tells the sanitizer which warps wait at the barrier and which have ended; the latter count as arrived at a barrier
// of the whole block.
void note_sync_point(ResidentBlock& block, int barrier) {
  std::vector<std::uint32_t> waiting, gone;
  for (const Warp& warp : block.warps) {
    if (warp.state == Warp::State::waiting && warp.barrier == barrier) waiting.push_back(warp.index);
    if (warp.state == Warp::State::done && block.expected[barrier] == 0) gone.push_back(warp.index);
  }
  block.shadow->leave_barrier(barrier, waiting, gone);
}

// Writes the result of bar.red, which was the warp's last operation, to each of the warp's live threads.
void put_reduction(Warp& warp, const ResidentBlock& block, int barrier) {
  const Op& op = *(warp.next - 1);
  const std::uint32_t counted = block.counted[barrier];
  const bool all = counted == block.asked[barrier];
  switch (op.instruction->barrier) {
    case BarrierMode::red_popc:
      for_lanes(warp.lanes<std::uint32_t>(op.s[3]), warp.mask, [&](int) { return counted; });
      break;
    case BarrierMode::red_and:
      set_predicate(warp.predicate(op.s[3]), warp.mask, all ? kAllLanes : 0u);
      break;
    case BarrierMode::red_or:
      set_predicate(warp.predicate(op.s[3]), warp.mask, counted != 0 ? kAllLanes : 0u);
      break;
    default:
      break;
  }
}

void release_barrier(ResidentBlock& block, int barrier) {
  if (block.shadow != nullptr) note_sync_point(block, barrier);
  PathClock& came_at = block.came_at[barrier];
  // A barrier of the whole block also waits for the warps that end instead of coming to it.
  if (block.expected[barrier] == 0) came_at.of_grid = std::max(came_at.of_grid, block.ended_at);
  for (Warp& warp : block.warps) {
    if (warp.state != Warp::State::waiting || warp.barrier != barrier) continue;
    if (block.asked[barrier] != 0) put_reduction(warp, block, barrier);
    warp.path.wait_until(came_at, warp.wait_for_block.rest);
    warp.state = Warp::State::ready;
  }
  block.arrived[barrier] = block.expected[barrier] = 0;
  block.counted[barrier] = block.asked[barrier] = 0;
  came_at = {};
}

void arrive(const Launch& launch, ResidentBlock& block, Warp& warp, const Op* op, std::size_t barrier) {
  ++block.arrived[barrier];
  warp.wait_for_block.rest = launch.chain != nullptr ? rest_of_block(launch, op) : 0;
  PathClock now = warp.path.now();
  now.of_grid -= warp.wait_for_block.rest;
  block.came_at[barrier].raise_to(now);
}

bool barrier_is_full(const ResidentBlock& block, int barrier) {
  const std::uint32_t needed = block.expected[barrier] != 0 ? block.expected[barrier] : block.live_warps;
  return block.arrived[barrier] >= needed;
}

// Records that a traced warp enters a basic block, and reserves the outcomes that the block's memory instructions will
// fill in.
[[gnu::noinline]] const Op* record_entry(Launch& launch, Warp& warp, const Op* op) {
  Multiprocessor& sm = *launch.sm;
  const std::uint32_t operations =
      launch.program.timed_operations.empty() ? 0 : launch.program.timed_operations[op->block];
  WarpTrace& trace = *warp.trace;
  trace.blocks.push_back(op->block);
  trace.instructions += op->count;
  trace.operations += operations;
  warp.first_outcome = trace.outcomes.size();
  trace.outcomes.resize(warp.first_outcome + op->memory);
  sm.traced.instructions += op->count;
  sm.traced.operations += operations;
  sm.traced.bytes += sizeof trace.blocks[0] + op->memory * sizeof trace.outcomes[0];
  return op + 1;
}

// The lanes of a warp that a branch sends to one block.
struct Way {
  std::uint32_t block = 0, lanes = 0;
};

// Splits the executing lanes into groups; the last of `ways` runs first. Returns the block where the warp continues.
std::uint32_t split(Launch& launch, Warp& warp, const Op* op, std::span<const Way> ways) {
  ++launch.sites[op->pc].divergent;
  if (warp.in_lockstep) come_apart(launch, warp, launch.program.lockstep.leaving[op->block]);
  if (op->meet == warp.stack.back().reconvergence) {
    warp.stack.pop_back();  // not needed: the lanes reconverge where this entry ends anyway
  } else {
    warp.stack.back().block = op->meet;
  }
  const bool never_meet = op->meet == kExitBlock;
  for (const Way& way : ways) {
    if (way.block != op->meet || never_meet) warp.stack.push_back({way.lanes, way.block, op->meet});
  }
  resume_top(launch, warp);
  return warp.stack.back().block;
}

// Rare cases are functions of their own (noinline), so that the common path needs no stack space for them.

// Ends the executing lanes. Other lanes may still wait to run.
[[gnu::noinline]] const Op* leave(Launch& launch, Warp& warp) {
  warp.live &= ~warp.mask;
  return go_on(launch, warp);
}

// Starts a basic block, or faults if the budget is spent.
inline const Op* count_entry(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t work = std::has_single_bit(warp.mask) ? op->next_block : op->target;
  if (launch.work_left < work) {
    return launch.stop(warp, op + 1, FaultKind::runaway, -1, kOutOfBudget);
  }
  launch.work_left -= work;
  launch.clock += op->count;
  launch.issued += op->meet;
  warp.executed += op->count;
  if (launch.counts) {  // only the timing model needs these
    warp.path.enter(op->block, op->offset);
    warp.busy->add(launch.program.unit_times[op->block]);
  }
  ++launch.sm->block_executions[op->block];
  launch.block_threads[op->block] += static_cast<std::uint64_t>(std::popcount(warp.mask));
  return warp.trace == nullptr ? op + 1 : record_entry(launch, warp, op);
}

// Ends a warp whose last lane has exited.
const Op* finish_warp(Warp& warp) {
  warp.state = Warp::State::done;
  ResidentBlock& block = *warp.block;
  --block.live_warps;
  block.ended_at = std::max(block.ended_at, warp.path.now().of_grid);
  // A barrier for the whole block waits for live warps only.
  for (int barrier = 0; barrier < kBarriers; ++barrier) {
    if (block.arrived[barrier] != 0 && block.live_warps != 0 && barrier_is_full(block, barrier)) {
      release_barrier(block, barrier);
    }
  }
  return nullptr;
}

// Enters a basic block with reconverged lanes; they run in lockstep if possible.
const Op* enter_together(Launch& launch, Warp& warp, const Op* op) {
  if (come_together(launch, warp, op->block)) op = first_op_of(launch.program, true, op->block);
  return count_entry(launch, warp, op);
}

// Called when no lane can run, because all that have not exited stand in front of a barrier.
[[gnu::noinline]] const Op* settle(Launch& launch, Warp& warp) {
  if (stand_apart(warp) && may_come_apart(warp, barrier_behind(warp.standing.front().entry))) {
    let_in_apart(launch, warp);
    return enter_block(launch, warp, warp.stack.back().block);
  }
  if (const Op* entry = bring_together(warp)) return enter_together(launch, warp, entry);
  const StandingLanes& first = warp.standing.front();
  return stop_at_barrier(launch, warp, barrier_behind(first.entry), first.lanes);
}

inline const Op* out_of_lanes(Launch& launch, Warp& warp) {
  return warp.standing.empty() ? finish_warp(warp) : settle(launch, warp);
}

// Called when some lanes reach a block barrier while the warp's other lanes are elsewhere. Runs the others first.
[[gnu::noinline]] const Op* wait_for_others(Launch& launch, Warp& warp, const Op* op) {
  launch.charge(work::kStanding);
  if (!stand_aside(warp, op)) return stop_at_barrier(launch, warp, barrier_behind(op), warp.mask);
  return go_on(launch, warp);
}

// Whether the lanes may continue from a reconvergence point that standing lanes have not reached. False, with a fault
// recorded, if the kernel makes a mistake by not waiting for them.
[[gnu::noinline]] bool may_go_on(Launch& launch, Warp& warp) {
  const StandingLanes* missed = who_is_missed(launch, warp);
  if (missed == nullptr) return true;
  stop_at_barrier(launch, warp, barrier_behind(missed->entry), missed->lanes);
  return false;
}

// Enters a basic block where diverged lanes may reconverge.
[[gnu::noinline]] const Op* meet(Launch& launch, Warp& warp, const Op* op) {
  warp.stack.pop_back();
  if (!resume_top(launch, warp)) return out_of_lanes(launch, warp);
  if (!warp.standing.empty() && !may_go_on(launch, warp)) return nullptr;
  if (are_waiting(warp)) return go_on_in_warp(launch, warp);
  if (warp.stack.back().block != op->block) return enter_block(launch, warp, warp.stack.back().block);
  if (op->run == op_enter_block_with_barrier && warp.mask != warp.live) return wait_for_others(launch, warp, op);
  return enter_together(launch, warp, op);
}

// Begins the next round of a loop that may wait in vain, at an mbarrier or for a flag. `branch`: back to it.
[[gnu::noinline]] const Op* poll_again(Launch& launch, Warp& warp, const Op* branch) {
  const std::uint32_t block = branch->target;
  if (branch->decides) note_poll(warp, true);
  if (!may_give_way(warp, branch->spins) || !let_others_ahead(warp, block)) return enter_block(launch, warp, block);
  return go_on(launch, warp);
}

// Takes a branch. If it leads backwards, it ends the turn.
inline const Op* take_branch(Launch& launch, Warp& warp, const Op* op, std::uint32_t go) {
  if (!op->back_edge || go != op->target) return enter_block(launch, warp, go);
  const bool may_wait = warp.vain_polls != 0 || op->spins;
  warp.next = may_wait ? poll_again(launch, warp, op) : enter_block(launch, warp, go);
  return nullptr;
}

// Executes a branch that some lanes take and others do not. In a watched block, either go first, by chance, if the ways
// may run in any order (offset: the seed of that; 0: they may not).
[[gnu::noinline]] const Op* part(Launch& launch, Warp& warp, const Op* op, std::uint32_t taken) {
  Way ways[] = {{op->next_block, warp.mask & ~taken}, {op->target, taken}};
  const auto seed = static_cast<std::uint64_t>(op->offset);
  const ResidentBlock& block = *warp.block;
  const bool may_turn = seed != 0 && block.is_watched;
  if (may_turn && turns_around(seed, block.linear_index, block.turns, warp.index, warp.executed))
    std::swap(ways[0], ways[1]);
  return take_branch(launch, warp, op, split(launch, warp, op, ways));
}

// Runs the guarded operation for the executing lanes that are not in `off`.
inline const Op* run_without(std::uint32_t off, Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t all = warp.mask;
  if (off == all) {
    warp.path.skip(op->pc);
    return op + 1;
  }
  warp.mask = all & ~off;
  const Op* next = op->guarded(launch, warp, op);
  warp.mask = all;
  return next;
}

}  // namespace

const Op* stop_at_barrier(Launch& launch, const Warp& warp, const Op* op, std::uint32_t lanes) {
  return launch.stop(warp, op, FaultKind::barrier_deadlock, std::countr_zero(lanes),
                     fmt::format("barrier reached by only {} of the warp's {} threads: every thread of the block must "
                                 "reach the same __syncthreads()",
                                 std::popcount(lanes), std::popcount(warp.live)));
}

bool resume_top(const Launch& launch, Warp& warp) {
  for (;;) {
    const std::size_t depth = warp.frames.empty() ? 0 : warp.frames.back().depth;
    const std::uint32_t left = warp.live & warp.here;
    while (warp.stack.size() > depth && (warp.stack.back().mask & left) == 0) warp.stack.pop_back();
    if (warp.stack.size() > depth) {
      warp.mask = warp.stack.back().mask & left;
      return true;
    }
    if (warp.frames.empty()) return false;
    end_call(launch, warp);
  }
}

std::uint32_t guard_mask(const Warp& warp, const Op* op) {
  if (op->guard == kNoSlot) return kAllLanes;
  const std::uint32_t predicate = warp.predicate(op->guard);
  return op->guard_negated ? ~predicate : predicate;
}

const Op* go_on(Launch& launch, Warp& warp) {
  if (!resume_top(launch, warp)) return out_of_lanes(launch, warp);
  if (!warp.standing.empty() && !may_go_on(launch, warp)) return nullptr;
  if (are_waiting(warp)) return go_on_in_warp(launch, warp);
  return enter_block(launch, warp, warp.stack.back().block);
}

const Op* enter_block(Launch& launch, Warp& warp, std::uint32_t block) {
  if (block == kExitBlock) return leave(launch, warp);
  return first_op_of(launch.program, warp.in_lockstep, block);
}

const Op* op_enter_block(Launch& launch, Warp& warp, const Op* op) {
  if (warp.stack.back().reconvergence == op->block) return meet(launch, warp, op);
  return count_entry(launch, warp, op);
}

const Op* op_enter_block_with_barrier(Launch& launch, Warp& warp, const Op* op) {
  if (warp.stack.back().reconvergence == op->block) return meet(launch, warp, op);
  if (warp.mask != warp.live && (warp.mask & warp.let_in) == 0) return wait_for_others(launch, warp, op);
  warp.let_in &= ~warp.mask;
  return count_entry(launch, warp, op);
}

const Op* op_fall_through(Launch& launch, Warp& warp, const Op* op) {
  return enter_block(launch, warp, op->next_block);
}

const Op* op_branch(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t taken = warp.mask & guard_mask(warp, op);
  if (taken == 0) return enter_block(launch, warp, op->next_block);
  if (taken != warp.mask) return part(launch, warp, op, taken);
  return take_branch(launch, warp, op, op->target);
}

// brx.idx. SASS compares the index with the size of a table in constant memory and then reads the target from the
// table. The ISA leaves an index beyond the table undefined; here it is a fault. nvcc's code never has such an index.
const Op* op_indexed_branch(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t taken = warp.mask & guard_mask(warp, op);
  const std::vector<std::uint32_t>& table = launch.program.branch_tables[static_cast<std::size_t>(op->offset)];
  const std::uint32_t* index = warp.lanes<std::uint32_t>(op->s[0]);
  std::array<Way, kWarpSize + 1> ways;
  std::size_t count = 0;
  const auto add = [&](std::uint32_t block, std::uint32_t lanes) {
    std::size_t w = 0;
    while (w < count && ways[w].block != block) ++w;
    if (w == count) ways[count++] = {block, 0};
    ways[w].lanes |= lanes;
  };
  if (taken != warp.mask) add(op->next_block, warp.mask & ~taken);
  for (std::uint32_t left = taken; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (index[lane] >= table.size()) {
      return launch.stop(
          warp, op, FaultKind::out_of_bounds, lane,
          fmt::format("a branch by index {} through a table of {}: a switch reached a case that its code rules out",
                      index[lane], table.size()));
    }
    add(table[index[lane]], left & (0 - left));
  }
  const std::uint32_t go = count == 1 ? ways[0].block : split(launch, warp, op, {ways.data(), count});
  const Op* next = enter_block(launch, warp, go);
  // A backward branch ends the turn.
  if (go <= op->block) {
    warp.next = next;
    return nullptr;
  }
  return next;
}

const Op* op_exit(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t leaving = warp.mask & guard_mask(warp, op);
  warp.live &= ~leaving;
  if (leaving != warp.mask) {
    if (warp.in_lockstep && leaving != 0) come_apart(launch, warp, launch.program.lockstep.leaving[op->block]);
    warp.mask &= ~leaving;
    return op + 1;
  }
  return go_on(launch, warp);
}

const Op* op_guard(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t off = warp.mask & ~guard_mask(warp, op);
  launch.sites[op->pc].predicated_off += static_cast<std::uint64_t>(std::popcount(off));
  return run_without(off, launch, warp, op);
}

const Op* op_guard_again(Launch& launch, Warp& warp, const Op* op) {
  return run_without(warp.mask & ~guard_mask(warp, op), launch, warp, op);
}

const Op* op_block_barrier(Launch& launch, Warp& warp, const Op* op) {
  ResidentBlock& block = *warp.block;
  const auto barrier = static_cast<std::size_t>(op->offset);
  if (warp.mask != warp.live || block.expected[barrier] != 0 || block.shadow != nullptr)
    return op_barrier(launch, warp, op);
  warp.next = op + 1;
  warp.state = Warp::State::waiting;
  warp.barrier = static_cast<int>(barrier);
  arrive(launch, block, warp, op, barrier);
  if (barrier_is_full(block, warp.barrier)) release_barrier(block, warp.barrier);
  return nullptr;
}

const Op* op_unaligned_barrier(Launch& launch, Warp& warp, const Op* op) {
  if (warp.mask == warp.live || !warp.frames.empty()) return op_barrier(launch, warp, op);
  return wait_in_warp(launch, warp, op, MeetingLanes::Kind::barrier, kNoSlot, "");
}

const Op* op_barrier(Launch& launch, Warp& warp, const Op* op) {
  if (warp.mask != warp.live) return stop_at_barrier(launch, warp, op, warp.mask);
  return come_to_barrier(launch, warp, op, barrier_named(warp, op, warp.mask));
}

NamedBarrier barrier_named(const Warp& warp, const Op* op, std::uint32_t lanes) {
  const auto of_first = [&](Slot at) { return warp.lanes<std::uint32_t>(at)[std::countr_zero(lanes)]; };
  return {.number = op->s[1] == kNoSlot ? static_cast<std::uint32_t>(op->offset) : of_first(op->s[1]),
          .threads = op->s[0] == kNoSlot ? 0 : of_first(op->s[0])};
}

const Op* come_to_barrier(Launch& launch, Warp& warp, const Op* op, const NamedBarrier& named) {
  ResidentBlock& block = *warp.block;
  const std::uint32_t number = named.number;
  if (number >= kBarriers) {
    return launch.stop(warp, op, FaultKind::barrier_deadlock, -1,
                       fmt::format("barrier {} does not exist: a block has {}, from 0 on", number, kBarriers));
  }
  const int barrier = static_cast<int>(number);
  std::uint32_t warps = 0;
  if (op->s[0] != kNoSlot) {
    const std::uint32_t threads = named.threads;
    if (threads == 0 || threads % kWarpSize != 0) {
      return launch.stop(warp, op, FaultKind::barrier_deadlock, -1,
                         fmt::format("a barrier for {} threads: it must be a multiple of {}", threads, kWarpSize));
    }
    warps = threads / kWarpSize;
  }
  if (block.arrived[barrier] != 0 && block.expected[barrier] != warps) {
    return launch.stop(warp, op, FaultKind::barrier_deadlock, -1,
                       fmt::format("threads come to barrier {} for different numbers of threads: give it the same "
                                   "number everywhere",
                                   barrier));
  }
  block.expected[barrier] = warps;
  if (warp.trace != nullptr && leaves_outcome(*op->instruction)) {
    Outcome& outcome = warp.outcome(op);
    outcome.line = static_cast<std::uint16_t>(1 + barrier);
    outcome.copies = static_cast<std::uint8_t>(warps);
  }
  if (op->s[2] != kNoSlot) {
    const std::uint32_t holds = warp.predicate(op->s[2]) ^ (op->count != 0 ? kAllLanes : 0u);
    block.counted[barrier] += static_cast<std::uint32_t>(std::popcount(holds & warp.mask));
    block.asked[barrier] += static_cast<std::uint32_t>(std::popcount(warp.mask));
  }
  arrive(launch, block, warp, op, number);
  if (block.shadow != nullptr) block.shadow->come_to_barrier(barrier, warp.index);
  charge_for_clocks(launch, warp);
  warp.next = op + 1;
  const bool waits = op->instruction->barrier != BarrierMode::arrive;
  if (waits) {
    warp.state = Warp::State::waiting;
    warp.barrier = barrier;
  }
  if (barrier_is_full(block, barrier)) release_barrier(block, barrier);
  return waits ? nullptr : op + 1;
}

const Op* op_end_turn(Launch&, Warp& warp, const Op* op) {
  warp.next = op + 1;
  return nullptr;
}

const Op* op_nothing(Launch&, Warp&, const Op* op) { return op + 1; }

const Op* op_fence(Launch& launch, Warp& warp, const Op* op) {
  if (launch.counts && empties_l1(*op->instruction)) launch.sm->l1.empty();
  if (warp.block->shadow != nullptr) warp.block->shadow->fence(warp.index, warp.mask, warp.live);
  charge_for_clocks(launch, warp);
  return op + 1;
}

const Op* op_meet_in_warp(Launch& launch, Warp& warp, const Op* op) {
  const bool is_guarded = op->guard != kNoSlot;  // only lanes of a whole stack entry can wait
  if (!is_guarded && misses_members(warp, warp.lanes<std::uint32_t>(op->s[0])))
    return wait_in_warp(launch, warp, op, MeetingLanes::Kind::sync, op->s[0], "__syncwarp()");
  return meet_members(launch, warp, op, op->s[0], "__syncwarp()", false) ? op + 1 : nullptr;
}

const Op* op_sleep(Launch& launch, Warp& warp, const Op* op) {
  std::uint32_t longest = 0;
  const std::uint32_t* times = warp.lanes<std::uint32_t>(op->s[0]);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1)
    longest = std::max(longest, std::min(times[std::countr_zero(left)], kMostSleepNs));
  const auto cycles = static_cast<std::uint32_t>(longest * launch.machine.clock_hz * 1e-9);
  warp.path.latency_cycles += cycles;
  warp.wait_for_block.slept += cycles;
  if (warp.trace != nullptr && cycles != 0) {
    warp.trace->sleeps.push_back({static_cast<std::uint32_t>(warp.first_outcome + op->memory), cycles});
    launch.sm->traced.bytes += sizeof(Sleep);
  }
  warp.next = op + 1;
  return nullptr;
}

const Op* op_trap(Launch& launch, Warp& warp, const Op* op) {
  return launch.stop(warp, op, FaultKind::trap, -1,
                     "trap: the kernel stopped itself, by __trap() or where the compiler found undefined behaviour; "
                     "what leads to this line?");
}

}  // namespace roofwalk::vgpu
