// The timing model's state of each SM: blocks, warps with their scoreboards, schedulers, and the servers of its
// memory path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/record/times.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/timing/instruction_schedule.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

using Cycle = std::int64_t;

// When a scoreboard slot is readable, and the reason for waiting until then.
struct Score {
  Cycle ready = 0;
  std::uint32_t pc = 0;  // instruction that produces the value
  Wait cause = Wait::dependency;
  float conflict_share = 0;  // share of the wait that bank conflicts caused
};

// A resource that serves one request after another.
struct Server {
  double free = 0;
  double serve(double at, double busy) {  // returns the start
    const double start = std::max(at, free);
    free = start + busy;
    return start;
  }
};

// A resource that many SMs share. Requests come in the order of simulation, not in that of their arrival times. So a
// request may still use idle time before requests that were simulated earlier. The used time is kept in bins of a few
// cycles.
class SharedServer {
 public:
  double serve(double at, double busy) {  // returns the start
    std::uint64_t bin = next_free(std::max(static_cast<std::uint64_t>(at / kBin), first_));
    const double start = std::max(at, static_cast<double>(bin) * kBin + bins_[bin - first_].used);
    while (busy > 0) {
      Bin& now = bins_[bin - first_];
      const double part = std::min(busy, kBin - now.used);
      now.used += part;
      busy -= part;
      end_ = std::max(end_, std::max(at, static_cast<double>(bin) * kBin) + part);
      if (now.used >= kBin) now.next = bin + 1;
      if (busy > 0) bin = next_free(bin + 1);
    }
    return start;
  }
  double end() const { return end_; }  // end of the last service

  // Forgets the past: no request will come before `now`.
  void forget_before(std::int64_t now) {
    const auto bin = static_cast<std::uint64_t>(now) / static_cast<std::uint64_t>(kBin);
    while (first_ < bin && !bins_.empty()) {
      bins_.pop_front();
      ++first_;
    }
    if (bins_.empty()) first_ = std::max(first_, bin);
  }

 private:
  static constexpr double kBin = 16;  // cycles

  struct Bin {
    double used = 0;         // cycles
    std::uint64_t next = 0;  // this bin; if it is full, the bin where the search continues
  };

  // Returns the first bin, from `bin` on, that is not full.
  std::uint64_t next_free(std::uint64_t bin) {
    std::uint64_t last = bin;
    for (;; last = bins_[last - first_].next) {
      while (first_ + bins_.size() <= last) bins_.push_back({0, first_ + bins_.size()});
      if (bins_[last - first_].next == last) break;
    }
    while (bin != last) bin = std::exchange(bins_[bin - first_].next, last);
    return last;
  }

  std::deque<Bin> bins_;
  std::uint64_t first_ = 0;  // number of the first bin kept
  double end_ = 0;
};

// What a warp did or waited for while other warps of its block waited at a barrier.
struct Late {
  std::uint32_t pc = 0;  // instruction that is blamed
  Wait cause = Wait::issued;
  float cycles = 0;
};

inline constexpr std::size_t kMostNotes = 4096;

// A phase of an mbarrier, or a write of a flag (trace.h), with the arrivals that the trace contains.
struct SimPhase {
  std::uint32_t wanted = 0, arrived = 0;  // number of arrivals, in warp instructions
  Cycle ends = 0;                         // earliest end
  std::vector<std::uint32_t> followers;   // phases that cannot end before this one
};
struct WaitingWarp {
  std::uint32_t phase = 0, warp = 0;  // phase: index in the block; warp: index in the SM
};

// A write for which warps of other blocks wait (GridTrace::writes).
struct SimWrite {
  bool made = false;  // and so is the one that it follows
  Cycle at = 0;
  std::vector<std::uint32_t> followers;                          // whose instructions came before this one was made
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waiting;  // warps: SM, index in the SM
};
// For the trace of a warp: the outcome of the instruction that makes such a write.
struct WriteNote {
  std::uint32_t outcome = 0, write = 0;
};

// The cycles that are part of at least one of several spans.
class CoveredCycles {
 public:
  // Spans that are added one after the other usually end one after the other, so the search begins at the end.
  void add(Cycle from, Cycle to) {
    auto last = spans_.end();
    while (last != spans_.begin() && std::prev(last)->first > to) --last;
    auto first = last;
    while (first != spans_.begin() && std::prev(first)->second >= from) {
      --first;
      from = std::min(from, first->first);
      to = std::max(to, first->second);
    }
    spans_.emplace(spans_.erase(first, last), from, to);
  }
  Cycle count() const {
    Cycle sum = 0;
    for (const auto& [from, to] : spans_) sum += to - from;
    return sum;
  }
  // Returns the cycles from the first to the last.
  Cycle extent() const { return spans_.empty() ? 0 : spans_.back().second - spans_.front().first; }

 private:
  std::vector<std::pair<Cycle, Cycle>> spans_;  // in order, apart from each other
};

struct SimBlock {
  std::size_t number = 0;  // in the order in which blocks started
  std::uint32_t first_warp = 0, live = 0;
  std::uint32_t standing = 0;  // number of warps that wait at barriers
  Cycle first_stood = 0;       // arrival of the first of these warps, if there is one
  std::uint32_t arrived[kBarriers] = {};
  std::vector<SimPhase> phases;  // by number
  std::vector<WaitingWarp> waiting;
  std::uint32_t held = 0;  // number of warps that wait for writes of other blocks
};

inline constexpr std::size_t kNotEntered = ~std::size_t{0};

struct SimWarp {
  const WarpTrace* trace = nullptr;
  std::size_t entry = 0, outcome = 0;  // positions in the trace: the next basic block, and that block's first outcome
  std::size_t first_outcome = 0;       // first outcome of the current schedule
  const Schedule* schedule = nullptr;
  std::vector<std::size_t> parts;  // by part of the schedule: its first outcome, or kNotEntered
  std::uint32_t op = 0;
  std::uint32_t sim_block = 0, scheduler = 0, place = 0;  // place: index among the scheduler's warps
  // When the next operation's operands are ready, and why not before.
  Score blocked;
  Cycle free_since = 0;  // end of the last issue
  int barrier = -1;      // barrier at which it waits; -1: none
  std::vector<Score> scores;
  std::vector<Late> late;              // what it has done since the first other warp arrived at a barrier
  std::size_t most_late = kMostNotes;  // number of notes at which fold() merges them
  Score open_copies;                   // when the copies of the open batch are complete
  Score stored;                        // when its global stores are visible to other blocks
  // When a group and all earlier ones are complete; and the same for batches: an arrival at an mbarrier ends one, too,
  // but forms no group for cp.async.wait_group.
  std::vector<Score> copy_groups, copy_batches;
};

struct Scheduler {
  std::vector<std::uint32_t> warps;
  std::vector<Cycle> ready;        // parallel to warps: when the operands of the next operation are ready
  std::vector<std::uint8_t> unit;  // parallel to warps: unit of that operation
  std::size_t last = 0;            // place of the warp that issued last, which issues again if it can
  Cycle free = 0;                  // end of the last issue
  Cycle next = 0;                  // until then it has nothing to issue
  double units[kUnitCount] = {};   // by unit: when it is free
};

struct SimSm {
  std::vector<SimBlock> blocks;
  std::vector<SimWarp> warps;
  std::vector<Scheduler> schedulers;
  std::size_t first_scheduler = 0;  // index of the scheduler that has the first turn
  Server memory_path, constant_path, port_in, port_out, barriers;
  // When the line with this hash arrives, and the reason for waits for it.
  struct Arriving {
    Cycle ready = 0;
    Wait cause = Wait::l2;
    std::uint16_t hash = 0;
  };
  std::vector<Arriving> arriving;
  // When the requests of this SM's warps that missed in L1 are complete: by hash slot, the latest request.
  struct Asked {
    std::uint64_t key = ~0ull;
    Cycle ready = 0;
    Wait cause = Wait::l2;
  };
  std::vector<Asked> asked;
  // The end of the last swap of each word of shared memory, by the block's index in the SM and the word's hash
  // (AtomicTurns::place).
  std::unordered_map<std::uint64_t, double> swapped;
  double path_closed_until = 0;                       // until there is room among the sectors in flight
  double path_cycles = 0, conflict_cycles = 0;        // cycles of the memory path so far
  using InFlight = std::pair<double, std::uint32_t>;  // sectors requested from L2: when they arrive, how many
  struct Outstanding {
    std::priority_queue<InFlight, std::vector<InFlight>, std::greater<>> requests;
    std::uint32_t sectors = 0;
  };
  Outstanding reads, writes;
  CoveredCycles active;  // in which at least one block was resident
  double end = 0;
  Cycle next = 0;
};

}  // namespace roofwalk::vgpu
