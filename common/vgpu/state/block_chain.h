// Chains of waits between blocks. In a grid of which only a sample is traced (trace/sample.h), the timing model cannot
// replay the waits of blocks for each other. Instead each warp, traced or not, has a clock that its waits put forward
// (PathClock::of_grid), and each word that a block may wait for has the clock of its last change. So blocks that take
// turns put each other off one after another, and the latest clock bounds the time of the grid from below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "common/vgpu/state/page_set.h"

namespace roofwalk::vgpu {

class BlockChain {
 public:
  static constexpr std::uint64_t kWordBytes = 4;

  struct Change {
    std::int64_t clock = 0;   // PathClock::of_grid of the warp; the latest, if the change kept what was there before
    std::uint64_t block = 0;  // linear index within the grid
    std::uint64_t order = 0;  // greater than that of earlier changes; 0: none
  };

  // A warp looks at a word that another block may change. Changes of words are kept from the first look at their page
  // on.
  void look(std::uint64_t address) { pages_.put(address); }
  bool may_be_looked_at(std::uint64_t low, std::uint64_t end) const { return pages_.may_hold(low, end); }

  // `keeps`: an atomic changed the word, whose value depends on the changes before.
  void write(std::uint64_t word, Change change, bool keeps) {
    const auto found = changes_.find(word);
    change.order = ++count_;
    if (found == changes_.end()) {
      if (changes_.size() < kMostKept) changes_.emplace(word, change);
      return;
    }
    if (keeps) change.clock = std::max(change.clock, found->second.clock);
    found->second = change;
  }

  Change latest(std::uint64_t word) const {
    if (changes_.empty()) return {};
    const auto found = changes_.find(word);
    return found == changes_.end() ? Change{} : found->second;
  }

  // Takes over what a round has added to `round` in which SMs ran at the same time, and empties it.
  void take(BlockChain& round) {
    if (round.pages_.empty() && round.changes_.empty()) return;
    pages_.put(round.pages_);
    for (const auto& [word, change] : round.changes_) write(word, change, false);
    round.pages_.clear();
    round.changes_.clear();
  }

 private:
  static constexpr std::size_t kMostKept = 1u << 20;  // 48 MB

  PageSet pages_;
  std::unordered_map<std::uint64_t, Change> changes_;  // by address / kWordBytes
  std::uint64_t count_ = 0;
};

}  // namespace roofwalk::vgpu
