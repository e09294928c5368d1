// Handlers that move a warp through its program: block entry and reconvergence, branches, exits, barriers, predicates.
#include <bit>

#include <fmt/format.h>

#include "common/vgpu/handlers.h"
#include "common/vgpu/lockstep.h"
#include "common/vgpu/shared_shadow.h"

namespace roofwalk::vgpu {
namespace {

// Drops entries whose lanes have all left or that wait at `block`; the warp goes on with the entry on top.
// Returns false where no lane is left.
bool resume_top(Warp& warp) {
  while (!warp.stack.empty() && (warp.stack.back().mask & warp.live) == 0) warp.stack.pop_back();
  if (warp.stack.empty()) return false;
  warp.mask = warp.stack.back().mask & warp.live;
  return true;
}

std::uint32_t guard_mask(const Warp& warp, const Op* op) {
  if (op->guard == kNoSlot) return kAllLanes;
  const std::uint32_t predicate = warp.predicate(op->guard);
  return op->guard_negated ? ~predicate : predicate;
}

// For the sanitizer: who has come to the barrier, and who has ended, which counts as coming where all must.
void note_meeting(ResidentBlock& block, int barrier) {
  std::vector<std::uint32_t> came, gone;
  for (const Warp& warp : block.warps) {
    if (warp.state == Warp::State::waiting && warp.barrier == barrier) came.push_back(warp.index);
    if (warp.state == Warp::State::done && block.expected[barrier] == 0) gone.push_back(warp.index);
  }
  block.shadow->meet(came, gone);
}

void release_barrier(ResidentBlock& block, int barrier) {
  if (block.shadow != nullptr) note_meeting(block, barrier);
  block.arrived[barrier] = 0;
  block.expected[barrier] = 0;
  for (Warp& warp : block.warps) {
    if (warp.state == Warp::State::waiting && warp.barrier == barrier) warp.state = Warp::State::ready;
  }
}

bool barrier_is_full(const ResidentBlock& block, int barrier) {
  const std::uint32_t needed = block.expected[barrier] != 0 ? block.expected[barrier] : block.live_warps;
  return block.arrived[barrier] >= needed;
}

const Op* finish_warp(Warp& warp) {
  warp.state = Warp::State::done;
  ResidentBlock& block = *warp.block;
  --block.live_warps;
  // A barrier for the whole block waits for live warps only.
  for (int barrier = 0; barrier < kBarriers; ++barrier) {
    if (block.arrived[barrier] != 0 && block.live_warps != 0 && barrier_is_full(block, barrier)) {
      release_barrier(block, barrier);
    }
  }
  return nullptr;
}

// A traced warp enters a basic block: its memory instructions will fill their outcomes in.
void record_entry(Multiprocessor& sm, Warp& warp, const Op* op) {
  WarpTrace& trace = *warp.trace;
  trace.blocks.push_back(op->block);
  trace.instructions += op->count;
  warp.first_outcome = trace.outcomes.size();
  trace.outcomes.resize(warp.first_outcome + op->memory);
  sm.traced.instructions += op->count;
  sm.traced.bytes += sizeof trace.blocks[0] + op->memory * sizeof trace.outcomes[0];
}

}  // namespace

const Op* enter_block(Launch& launch, Warp& warp, std::uint32_t block) {
  if (block != kExitBlock) return first_op_of(launch.program, warp.in_lockstep, block);
  // The lanes that come here leave; others may still wait for their turn.
  warp.live &= ~warp.mask;
  return resume_top(warp) ? enter_block(launch, warp, warp.stack.back().block) : finish_warp(warp);
}

const Op* op_enter_block(Launch& launch, Warp& warp, const Op* op) {
  if (warp.stack.back().reconvergence == op->block) {
    warp.stack.pop_back();
    if (!resume_top(warp)) return finish_warp(warp);
    if (warp.stack.back().block != op->block) return enter_block(launch, warp, warp.stack.back().block);
    if (come_together(launch, warp, op->block)) op = first_op_of(launch.program, true, op->block);
  }
  if (launch.instructions_left < op->count) {
    return launch.stop(warp, op + 1, FaultKind::runaway, -1, kOutOfBudget);
  }
  launch.instructions_left -= op->count;
  launch.clock += op->count;
  warp.executed += op->count;
  ++launch.sm->block_executions[op->block];
  launch.block_threads[op->block] += static_cast<std::uint64_t>(std::popcount(warp.mask));
  if (warp.trace != nullptr) record_entry(*launch.sm, warp, op);
  return op + 1;
}

const Op* op_fall_through(Launch& launch, Warp& warp, const Op* op) {
  return enter_block(launch, warp, op->next_block);
}

const Op* op_branch(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t taken = warp.mask & guard_mask(warp, op);
  if (taken == 0) return enter_block(launch, warp, op->next_block);
  std::uint32_t go = op->target;
  if (taken != warp.mask) {
    ++launch.sites[op->pc].divergent;
    if (warp.in_lockstep) come_apart(launch, warp, launch.program.lockstep.leaving[op->block]);
    const std::uint32_t others = warp.mask & ~taken;
    if (op->meet == warp.stack.back().reconvergence) {
      warp.stack.pop_back();  // the lanes meet where this entry would have ended anyway
    } else {
      warp.stack.back().block = op->meet;
    }
    const bool never_meet = op->meet == kExitBlock;
    if (op->next_block != op->meet || never_meet) warp.stack.push_back({others, op->next_block, op->meet});
    if (op->target != op->meet || never_meet) warp.stack.push_back({taken, op->target, op->meet});
    resume_top(warp);
    go = warp.stack.back().block;
  }
  const Op* next = enter_block(launch, warp, go);
  if (op->back_edge && go == op->target) {
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
  if (!resume_top(warp)) return finish_warp(warp);
  return enter_block(launch, warp, warp.stack.back().block);
}

const Op* op_guard(Launch& launch, Warp& warp, const Op* op) {
  const std::uint32_t all = warp.mask;
  const std::uint32_t on = all & guard_mask(warp, op);
  launch.sites[op->pc].predicated_off += static_cast<std::uint64_t>(std::popcount(all & ~on));
  if (on == 0) return op + 1;
  warp.mask = on;
  const Op* next = op->guarded(launch, warp, op);
  warp.mask = all;
  return next;
}

const Op* op_barrier(Launch& launch, Warp& warp, const Op* op) {
  if (warp.mask != warp.live) {
    return launch.stop(
        warp, op, FaultKind::barrier_deadlock, -1,
        fmt::format("barrier reached by only {} of the warp's {} threads: every thread of the block must "
                    "reach the same __syncthreads()",
                    std::popcount(warp.mask), std::popcount(warp.live)));
  }
  ResidentBlock& block = *warp.block;
  const int barrier = static_cast<int>(op->offset);
  if (op->s[0] != kNoSlot) {
    const std::uint32_t threads = *warp.lanes<std::uint32_t>(op->s[0]);
    block.expected[barrier] = (threads + kWarpSize - 1) / kWarpSize;
  }
  ++block.arrived[barrier];
  warp.state = Warp::State::waiting;
  warp.barrier = barrier;
  if (barrier_is_full(block, barrier)) release_barrier(block, barrier);
  warp.next = op + 1;
  return nullptr;
}

const Op* op_nothing(Launch&, Warp&, const Op* op) { return op + 1; }

const Op* op_meet_in_warp(Launch&, Warp& warp, const Op* op) {
  meet_in_warp(warp);
  return op + 1;
}

const Op* op_trap(Launch& launch, Warp& warp, const Op* op) {
  return launch.stop(warp, op, FaultKind::trap, -1, "the kernel executed a trap");
}

void Site::add(const Site& other) {
  requests += other.requests;
  sectors += other.sectors;
  lines += other.lines;
  hit_sectors += other.hit_sectors;
  l2_read_sectors += other.l2_read_sectors;
  l2_write_sectors += other.l2_write_sectors;
  l2_hit_sectors += other.l2_hit_sectors;
  served_by_l1 += other.served_by_l1;
  served_by_l2 += other.served_by_l2;
  served_by_dram += other.served_by_dram;
  bytes += other.bytes;
  wavefronts += other.wavefronts;
  conflicts += other.conflicts;
  predicated_off += other.predicated_off;
  divergent += other.divergent;
}

const Op* Launch::stop(const Warp& warp, const Op* op, FaultKind kind, int lane, std::string message) {
  if (fault) return nullptr;
  if (lane < 0) lane = std::countr_zero(warp.mask);
  const auto linear = warp.index * kWarpSize + static_cast<std::uint32_t>(lane);
  fault.emplace();
  fault->kind = kind;
  fault->block = warp.block->index;
  fault->thread = thread_of(linear);
  fault->message = std::move(message);
  fault_pc = op->pc;
  return nullptr;
}

}  // namespace roofwalk::vgpu
