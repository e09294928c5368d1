// Chains of waits between blocks. In a grid of which only a sample is traced (trace/sample.h), the timing model cannot
// replay the waits of blocks for each other. Instead each warp, traced or not, has a clock that its waits put forward
// (PathClock::of_grid), and each word that a block may wait for has the clock of its last change. So blocks that take
// turns put each other off one after another, and the latest clock bounds the time of the grid from below. A block
// begins when the block before it in its slot has ended.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/vgpu/state/page_set.h"

namespace roofwalk::vgpu {

class BlockChain {
 public:
  static constexpr std::uint64_t kWordBytes = 4;

  struct Change {
    std::int64_t clock = 0;   // PathClock::of_grid of the warp; the latest, if the change kept what was there before
    std::uint64_t block = 0;  // linear index within the grid
    std::uint64_t order = 0;  // greater than that of earlier changes; 0: none
    bool of_several = false;  // whether what it kept comes from other blocks, too
  };

  // A warp looks at a word that another block may change. `strongly`: by an atomic, or by a load that is not plain.
  // Such words are few, so each is kept. Of plain looks, only the pages are.
  void look(std::uint64_t word, bool strongly) {
    pages_.put(word * kWordBytes);
    if (strongly && flags_.size() < kMostKept) flags_.try_emplace(word);
  }
  bool may_be_looked_at(std::uint64_t low, std::uint64_t end) const { return pages_.may_hold(low, end); }
  bool is_flag(std::uint64_t word) const { return flags_.contains(word); }

  // `keeps`: the word's new value depends on what was there before. `strongly`: as above. A strong change may be that
  // of a flag at which nobody has looked yet. Plain ones count where somebody has looked at the page (else:
  // write_unseen()).
  void write(std::uint64_t word, Change change, bool keeps, bool strongly) {
    change.order = ++count_;
    written_.put(word * kWordBytes);
    if (const auto flag = flags_.find(word); flag != flags_.end()) return put(flag->second, change, keeps);
    Map& kept = strongly ? flags_ : others_;
    if (const auto other = others_.find(word); other != others_.end()) return put(other->second, change, keeps);
    if (kept.size() < kMostKept) return put(kept[word], change, keeps);
    put(lost_, change, true);
  }

  // A plain store of bytes from `low` to `end`, by many lanes, to pages at which nobody has looked yet. As such stores
  // are many, and few of them set flags, only the latest one to each page is kept. It stands for all words of the page.
  void write_unseen(std::uint64_t low, std::uint64_t end, Change change) {
    change.order = ++count_;
    for (std::uint64_t page = low / PageSet::kPageBytes; page * PageSet::kPageBytes < end; ++page) {
      written_.put(page * PageSet::kPageBytes);
      auto& [last_page, to] = last_unseen_[page % last_unseen_.size()];
      if (to == nullptr || last_page != page) {
        if (unseen_.size() >= kMostKept && !unseen_.contains(page)) {
          put(lost_, change, true);
          continue;
        }
        last_page = page;
        to = &unseen_[page];
      }
      put(*to, change, true);
    }
  }

  // Where changes could not be kept, the latest of them stands for that of any word without one.
  Change latest(std::uint64_t word) const {
    Change out = lost_;
    if (!written_.may_hold(word * kWordBytes, (word + 1) * kWordBytes)) return out;
    for (const Map* map : {&flags_, &others_}) {
      if (map->empty()) continue;
      const auto found = map->find(word);
      if (found == map->end() || found->second.order == 0) continue;
      out = found->second;
      break;
    }
    if (unseen_.empty()) return out;
    const auto unseen = unseen_.find(word * kWordBytes / PageSet::kPageBytes);
    return unseen != unseen_.end() && unseen->second.order > out.order ? unseen->second : out;
  }

  // Takes over what a round has added to `round` in which SMs ran at the same time, and empties it.
  void take(BlockChain& round) {
    for (const auto& [word, change] : round.flags_) {
      look(word, true);
      if (change.order != 0) write(word, change, false, true);
    }
    for (const auto& [word, change] : round.others_) write(word, change, false, false);
    for (const auto& [page, change] : round.unseen_) {
      const std::uint64_t low = page * PageSet::kPageBytes;
      write_unseen(low, low + PageSet::kPageBytes, change);
    }
    for (const std::uint64_t word : round.looks_) look(word, false);
    has_waits_ = has_waits_ || round.has_waits_;
    round.flags_.clear();
    round.others_.clear();
    if (!round.unseen_.empty()) round.last_unseen_ = {};
    round.unseen_.clear();
    round.looks_.clear();
  }
  // A block has waited for another one.
  void note_wait() { has_waits_ = true; }
  bool has_waits() const { return has_waits_; }
  // For take(): a plain look.
  void note_look(std::uint64_t word) { looks_.push_back(word); }

 private:
  using Map = std::unordered_map<std::uint64_t, Change>;  // by address / kWordBytes
  static constexpr std::size_t kMostKept = 1u << 20;      // 48 MB

  static void put(Change& to, Change change, bool keeps) {
    if (keeps && to.order != 0) {
      change.clock = std::max(change.clock, to.clock);
      change.of_several = change.of_several || to.of_several || to.block != change.block;
    }
    to = change;
  }

  PageSet pages_;    // that are looked at
  PageSet written_;  // most looks are at data that nobody writes
  Map flags_, others_;
  Map unseen_;  // by page
  // The places of some pages in unseen_.
  std::array<std::pair<std::uint64_t, Change*>, 64> last_unseen_{};
  Change lost_;
  std::vector<std::uint64_t> looks_;
  std::uint64_t count_ = 0;
  bool has_waits_ = false;
};

}  // namespace roofwalk::vgpu
