// What the clock keeps of each SM: blocks, warps with their scoreboards, schedulers, and the servers of its memory
// path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "common/record/run_record.h"
#include "common/vgpu/launch.h"
#include "common/vgpu/schedule.h"
#include "common/vgpu/trace.h"

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
    auto bin = next_free(static_cast<std::size_t>(at / kBin));
    const double start = std::max(at, static_cast<double>(bin) * kBin + used_[bin]);
    while (busy > 0) {
      const double part = std::min(busy, kBin - used_[bin]);
      used_[bin] += part;
      busy -= part;
      end_ = std::max(end_, std::max(at, static_cast<double>(bin) * kBin) + part);
      if (used_[bin] >= kBin) next_[bin] = static_cast<std::uint32_t>(bin + 1);
      if (busy > 0) bin = next_free(bin + 1);
    }
    return start;
  }
  double end() const { return end_; }  // of the last service

 private:
  static constexpr double kBin = 16;  // cycles

  // The first bin from `bin` on that is not full.
  std::size_t next_free(std::size_t bin) {
    std::size_t last = bin;
    for (;; last = next_[last]) {
      for (std::size_t more = next_.size(); more <= last; ++more) {
        next_.push_back(static_cast<std::uint32_t>(more));
        used_.push_back(0);
      }
      if (next_[last] == last) break;
    }
    while (next_[bin] != last && bin != last) bin = std::exchange(next_[bin], static_cast<std::uint32_t>(last));
    return last;
  }

  std::vector<double> used_;         // cycles, by bin
  std::vector<std::uint32_t> next_;  // by bin: itself, or where to look on from a full one
  double end_ = 0;
};

struct SimBlock {
  std::size_t number = 0;  // in the order of starts
  std::uint32_t first_warp = 0, live = 0;
  std::uint32_t arrived[kBarriers] = {};
};

struct SimWarp {
  const WarpTrace* trace = nullptr;
  std::size_t entry = 0, outcome = 0;  // in the trace: next basic block; first outcome of the current one
  const Schedule* schedule = nullptr;
  std::uint32_t basic_block = 0;
  std::uint32_t op = 0;
  std::uint32_t sim_block = 0, scheduler = 0, place = 0;  // place: among the scheduler's warps
  Score blocked;                                          // what the next operation waits for
  Cycle free_since = 0;                                   // end of the last issue
  int barrier = -1;                                       // the one that it waits at
  std::vector<Score> scores;
  Score open_copies;               // of cp.async since the last commit
  std::vector<Score> copy_groups;  // each the latest of itself and those before it
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
  Server memory_path, port_in, port_out;
  // When the line with this hash was, or will be, there; and what those who wait for it wait for.
  struct Arriving {
    Cycle ready = 0;
    Wait cause = Wait::l2;
    std::uint16_t hash = 0;
  };
  std::vector<Arriving> arriving;
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
