// Who fetched what lies in a cache, and which of it may still be on its way there: for traced requests, so that whoever
// finds a line waits on the clock for its fetch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct Fetch {
  std::uint64_t block = 0;   // linear, within the grid
  std::uint32_t number = 0;  // the cache's; 0: none
  std::uint32_t warp = 0;    // of the block
  std::uint32_t outcome = 0;
};

class FetchLog {
 public:
  // Of a cache that so many SMs share.
  FetchLog(const Machine& machine, std::size_t sms)
      : size_(std::bit_ceil(sms * static_cast<std::size_t>(machine.sectors_in_flight_per_sm))),
        latency_cycles_(machine.dram_latency_cycles) {}

  // The cache's fetches from number `next` on belong to another round of turns (grid.h), which began after at least so
  // many cycles.
  void begin_round(std::uint32_t next, double cycles) {
    if (rounds_.empty() || rounds_.back().began < cycles) rounds_.push_back({cycles, next});
    while (rounds_.size() > 1 && rounds_[1].began + latency_cycles_ <= cycles) rounds_.pop_front();
  }
  // Whether a line that this fetch brought may be on its way, before fetch number `next`: neither have so many others
  // been asked for since nor so many cycles passed that it cannot.
  bool may_arrive(std::uint32_t number, std::uint32_t next) const {
    return !rounds_.empty() && number >= rounds_.front().first && next - number <= size_;
  }

  void note(std::uint32_t number, const WarpTrace& trace, std::size_t outcome) {
    if (fetches_.empty()) fetches_.resize(size_);
    fetches_[number % size_] = {trace.block, number, trace.warp, static_cast<std::uint32_t>(outcome)};
  }

  // nullptr: not traced, or longer ago than fetches may be on their way.
  const Fetch* find(std::uint32_t number) const {
    if (number == 0 || fetches_.empty()) return nullptr;
    const Fetch& fetch = fetches_[number % size_];
    return fetch.number == number ? &fetch : nullptr;
  }

 private:
  struct Round {
    double began = 0;         // cycles
    std::uint32_t first = 0;  // fetch
  };
  std::size_t size_;
  double latency_cycles_;       // of DRAM
  std::deque<Round> rounds_;    // those whose fetches may be on their way, and this one
  std::vector<Fetch> fetches_;  // by number
};

}  // namespace roofwalk::vgpu
