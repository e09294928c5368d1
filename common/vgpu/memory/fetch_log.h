// Tells which traced request fetched a line that a cache holds, and whether that fetch may still be in flight. If so,
// the timing model makes a later load of the line wait for the fetch.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/specs/machine.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

struct Fetch {
  std::uint64_t block = 0;   // linear index within the grid
  std::uint32_t number = 0;  // the cache's fetch number; 0: none
  std::uint32_t warp = 0;    // index within the block
  std::uint32_t outcome = 0;
  bool changed = false;  // whether an atomic has found what it brought, and changed it
};

class FetchLog {
 public:
  // `sms`: number of SMs that share the cache.
  FetchLog(const Machine& machine, std::size_t sms)
      : size_(std::bit_ceil(sms * static_cast<std::size_t>(machine.sectors_in_flight_per_sm))),
        latency_cycles_(machine.dram_latency_cycles) {}

  // Fetches numbered `next` or higher belong to a new round of turns (grid.h), which began at least `cycles` cycles
  // after the launch.
  void begin_round(std::uint32_t next, double cycles) {
    constexpr std::size_t kMostPast = 64;
    if (rounds_.empty() || rounds_.back().began < cycles) rounds_.push_back({cycles, next});
    while (oldest_ + 1 < rounds_.size() && rounds_[oldest_ + 1].began + latency_cycles_ <= cycles) ++oldest_;
    if (oldest_ < kMostPast) return;
    rounds_.erase(rounds_.begin(), rounds_.begin() + static_cast<std::ptrdiff_t>(oldest_));
    oldest_ = 0;
  }
  // Whether fetch `number` may still be in flight when fetch `next` begins. False only if enough fetches or enough
  // cycles lie between the two.
  bool may_arrive(std::uint32_t number, std::uint32_t next) const {
    return !rounds_.empty() && number >= rounds_[oldest_].first && next - number <= size_;
  }

  void note(std::uint32_t number, const WarpTrace& trace, std::size_t outcome) {
    if (pages_.empty()) pages_.resize((size_ + kPage - 1) / kPage);
    auto& page = pages_[number % size_ / kPage];
    if (page == nullptr) page = std::make_unique<Fetch[]>(kPage);
    page[number % size_ % kPage] = {trace.block, number, trace.warp, static_cast<std::uint32_t>(outcome)};
  }
  // An atomic has changed a line of this fetch, and did not have to wait for it.
  void note_change(std::uint32_t number) {
    if (find(number) != nullptr) pages_[number % size_ / kPage][number % size_ % kPage].changed = true;
  }

  // Returns the fetch with this number; nullptr if it was not traced, or is too old to be in flight.
  const Fetch* find(std::uint32_t number) const {
    if (number == 0 || pages_.empty()) return nullptr;
    const auto& page = pages_[number % size_ / kPage];
    if (page == nullptr) return nullptr;
    const Fetch& fetch = page[number % size_ % kPage];
    return fetch.number == number ? &fetch : nullptr;
  }

 private:
  struct Round {
    double began = 0;         // at least this many cycles after the launch began
    std::uint32_t first = 0;  // number of its first fetch
  };
  std::size_t size_;
  double latency_cycles_;      // latency of DRAM
  std::vector<Round> rounds_;  // from oldest_ on: the current round and those whose fetches may be in flight
  std::size_t oldest_ = 0;
  // By number, modulo size_. In pages, because of a large chip's L2 a small launch uses little.
  static constexpr std::size_t kPage = 64;
  std::vector<std::unique_ptr<Fetch[]>> pages_;
};

}  // namespace roofwalk::vgpu
