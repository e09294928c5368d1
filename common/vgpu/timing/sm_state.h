// What the clock keeps of each SM: blocks, warps with their scoreboards, schedulers, and the servers of its memory
// path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/record/run_record.h"
#include "common/vgpu/state/launch.h"
#include "common/vgpu/timing/schedule.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

using Cycle = std::int64_t;

// When a scoreboard slot can be read, and what it waits for until then.
struct Score {
  Cycle ready = 0;
  std::uint32_t pc = 0;  // who made it
  Wait cause = Wait::dependency;
  float conflict_share = 0;  // of the wait, that bank conflicts added
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

// A resource that many share. Requests come as SMs get to them, not in the order in which they arrive, so what is free
// before the latest is given to who comes later. Kept in bins of a few cycles.
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
  double end() const { return end_; }  // of the last service

  // Nobody asks for anything before `now` any more.
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
    std::uint64_t next = 0;  // itself, or where to look on from a full one
  };

  // The first bin from `bin` on that is not full.
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
  std::uint64_t first_ = 0;  // the number of the first that is kept
  double end_ = 0;
};

// What a warp did, or waited for, while others of its block stood at a barrier.
struct Late {
  std::uint32_t pc = 0;  // that it is blamed on
  Wait cause = Wait::issued;
  float cycles = 0;
};

inline constexpr std::size_t kMostNotes = 4096;

// A phase of an mbarrier or a write of a flag (trace.h): who comes, by the trace.
struct SimPhase {
  std::uint32_t wanted = 0, arrived = 0;  // warp instructions
  Cycle ends = 0;                         // at the earliest
  std::vector<std::uint32_t> followers;   // phases that are not over before it is
};
struct WaitingWarp {
  std::uint32_t phase = 0, warp = 0;  // of the block; of the SM
};

struct SimBlock {
  std::size_t number = 0;  // in the order of starts
  std::uint32_t first_warp = 0, live = 0;
  std::uint32_t standing = 0;  // warps that wait at barriers
  Cycle first_stood = 0;       // since when, where there are any
  std::uint32_t arrived[kBarriers] = {};
  std::vector<SimPhase> phases;  // by number
  std::vector<WaitingWarp> waiting;
};

inline constexpr std::size_t kNotEntered = ~std::size_t{0};

struct SimWarp {
  const WarpTrace* trace = nullptr;
  std::size_t entry = 0, outcome = 0;  // in the trace: next basic block; its first outcome
  std::size_t first_outcome = 0;       // of what it runs now
  const Schedule* schedule = nullptr;
  std::vector<std::size_t> parts;  // of the schedule: first outcome of each, kNotEntered where the warp did not come
  std::uint32_t op = 0;
  std::uint32_t sim_block = 0, scheduler = 0, place = 0;  // place: among the scheduler's warps
  Score blocked;                                          // what the next operation waits for
  Cycle free_since = 0;                                   // end of the last issue
  int barrier = -1;                                       // the one that it waits at
  std::vector<Score> scores;
  std::vector<Late> late;              // since others stand at a barrier
  std::size_t most_late = kMostNotes;  // notes, past which they are folded
  Score open_copies;                   // of cp.async since the last commit
  Score stored;                        // until others can see what it stored to global memory
  std::vector<Score> copy_groups;      // each the latest of itself and those before it
};

struct Scheduler {
  std::vector<std::uint32_t> warps;
  std::vector<Cycle> ready;        // beside warps: when its next operation's operands are there
  std::vector<std::uint8_t> unit;  // beside warps: what that operation needs
  std::size_t last = 0;            // the warp that issued last goes on while it can
  Cycle free = 0;                  // end of the last issue
  double units[kUnitCount] = {};   // free from
};

struct SimSm {
  std::vector<SimBlock> blocks;
  std::vector<SimWarp> warps;
  std::vector<Scheduler> schedulers;
  std::size_t first_scheduler = 0;  // whose turn comes first
  Server memory_path, constant_path, port_in, port_out;
  // When the line with this hash was, or will be, there; and what those who wait for it wait for.
  struct Arriving {
    Cycle ready = 0;
    Wait cause = Wait::l2;
    std::uint16_t hash = 0;
  };
  std::vector<Arriving> arriving;
  // When the requests of its warps that L1 could not answer were, or will be, over: the latest of each place.
  struct Asked {
    std::uint64_t key = ~0ull;
    Cycle ready = 0;
    Wait cause = Wait::l2;
  };
  std::vector<Asked> asked;
  // The end of the last swap of a word of shared memory, by block of the SM and hash (Swaps::word).
  std::unordered_map<std::uint64_t, double> swapped;
  double path_closed_until = 0;                       // for want of room among the sectors in flight
  double path_cycles = 0, conflict_cycles = 0;        // of the memory path so far
  using InFlight = std::pair<double, std::uint32_t>;  // sectors asked of L2: until when, how many
  struct Outstanding {
    std::priority_queue<InFlight, std::vector<InFlight>, std::greater<>> requests;
    std::uint32_t sectors = 0;
  };
  Outstanding reads, writes;
  double end = 0;
  Cycle next = 0;
};

}  // namespace roofwalk::vgpu
