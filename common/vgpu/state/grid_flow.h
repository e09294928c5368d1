// The writes to global memory by traced warps of a grid whose loops may wait there: which writes a load of another
// block sees (global_flow.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/vgpu/memory/sectors.h"
#include "common/vgpu/state/page_set.h"
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

// What an instruction wrote: a word of four bytes, some bytes of one, or the whole of some sectors in a row.
struct Written {
  static constexpr std::uint32_t kWord = 0xf;

  std::uint64_t address = 0;    // of the word, or of the first sector
  std::uint32_t sectors = 0;    // 0: (bytes of) a word
  std::uint32_t bytes = kWord;  // of a word: bit i stands for the byte at address + i
  bool keeps = false;           // an atomic changed the word: its new value depends on the old one
};

// The latest write of each byte. A word that atomics change has several: its value depends on all changes since it was
// last stored to.
class GridWrites {
 public:
  static constexpr std::uint64_t kWordBytes = 4;
  struct Write {
    BlockWrite by;
    std::uint64_t order = 0;  // greater than that of earlier writes; 0: none
  };
  // One of the changes of a word, or a store before them. Links are numbered from 1 on; 0: none.
  struct Link {
    BlockWrite by;
    std::uint32_t before = 0;     // the change or store before it
    std::uint32_t of_others = 0;  // the latest one before it by another block
    std::uint32_t number = 0;     // if a warp waits for it: 1 + its index in GridFlow::awaited
  };

  void put(const Written& what, const BlockWrite& by) {
    if (what.sectors == 0) {
      word_pages_.put(what.address);
      const std::uint64_t word = what.address / kWordBytes;
      if (what.keeps) return change(word, by);
      const Write write{by, ++count_};
      if (what.bytes == Written::kWord) return put(words_, word, write);
      for (std::uint32_t i = 0; i < kWordBytes; ++i) {
        if ((what.bytes >> i & 1) != 0) put(bytes_, what.address + i, write);
      }
      return;
    }
    const Write write{by, ++count_};
    Page* page = nullptr;
    for (std::uint64_t s = 0, at = what.address; s < what.sectors; ++s, at += kSectorBytes) {
      const std::uint64_t place = at / kSectorBytes % kSectorsOfPage;
      if (s == 0 || place == 0) {
        sector_pages_.put(at);
        page = page_of(at);
      }
      page != nullptr ? void((*page)[place] = write) : put(more_sectors_, at / kSectorBytes, write);
    }
  }

  bool may_hold(std::uint64_t low, std::uint64_t end) const {
    return sector_pages_.may_hold(low, end) || word_pages_.may_hold(low, end);
  }
  // Whether a write of a single word, or of a part of one, may have been to the sector of this address.
  bool may_hold_words(std::uint64_t address) const { return word_pages_.may_hold(address, address + 1); }

  Write of_sector(std::uint64_t address) const {
    if (const auto found = pages_.find(address / PageSet::kPageBytes); found != pages_.end())
      return (*found->second)[address / kSectorBytes % kSectorsOfPage];
    return find(more_sectors_, address / kSectorBytes);
  }

  // Calls visit(write, link) for the latest writes of these bytes of a word, in no order. `link`: that of a change by
  // an atomic, else 0. Returns the bytes that nobody has written.
  template <class Visit>
  std::uint32_t visit_latest(std::uint64_t word, std::uint32_t bytes, Visit&& visit) const {
    const Write stored = stored_to(word);
    const Change changed = changed_to(word);
    const std::uint64_t whole = std::max(stored.order, changed.order);
    for (std::uint32_t i = 0; i < kWordBytes && !bytes_.empty(); ++i) {
      if ((bytes >> i & 1) == 0) continue;
      const Write of_byte = find(bytes_, word * kWordBytes + i);
      if (of_byte.order <= whole) continue;
      bytes &= ~(1u << i);
      visit(of_byte, 0u);
    }
    if (bytes == 0 || whole == 0) return bytes;
    changed.order == whole ? visit(Write{link(changed.link).by, whole}, changed.link) : visit(stored, 0u);
    return 0;
  }

  const Link& link(std::uint32_t number) const { return links_[number - 1]; }
  Link& link(std::uint32_t number) { return links_[number - 1]; }

 private:
  static constexpr std::size_t kMostKept = 1u << 22, kMostPages = 1u << 15;  // 256 MB, 96 MB
  static constexpr std::size_t kMostLinks = 1u << 22;                        // 128 MB
  static constexpr std::size_t kSectorsOfPage = PageSet::kPageBytes / kSectorBytes;
  using Page = std::array<Write, kSectorsOfPage>;
  using Map = std::unordered_map<std::uint64_t, Write>;
  struct Change {
    std::uint32_t link = 0;
    std::uint64_t order = 0;
  };

  // Returns nullptr if there are too many pages.
  Page* page_of(std::uint64_t address) {
    const auto found = pages_.find(address / PageSet::kPageBytes);
    if (found != pages_.end()) return found->second.get();
    if (pages_.size() == kMostPages) return nullptr;
    return pages_.emplace(address / PageSet::kPageBytes, std::make_unique<Page>()).first->second.get();
  }

  bool has_room() const { return words_.size() + bytes_.size() + changes_.size() + more_sectors_.size() < kMostKept; }

  void put(Map& map, std::uint64_t key, const Write& write) {
    const auto found = map.find(key);
    if (found != map.end()) {
      found->second = write;
    } else if (has_room()) {
      map.emplace(key, write);
    }
  }

  static Write find(const Map& map, std::uint64_t key) {
    if (map.empty()) return {};
    const auto found = map.find(key);
    return found == map.end() ? Write{} : found->second;
  }

  // The latest store of a whole word.
  Write stored_to(std::uint64_t word) const {
    const Write sector = of_sector(word * kWordBytes), alone = find(words_, word);
    return alone.order > sector.order ? alone : sector;
  }

  Change changed_to(std::uint64_t word) const {
    if (changes_.empty()) return {};
    const auto found = changes_.find(word);
    return found == changes_.end() ? Change{} : found->second;
  }

  void change(std::uint64_t word, const BlockWrite& by) {
    const Write stored = stored_to(word);
    Change last = changed_to(word);
    if (links_.size() >= kMostLinks || !has_room()) return put(words_, word, {by, ++count_});
    if (stored.order > last.order) last = {add_link(0, stored.by), stored.order};
    for (std::uint32_t i = 0; i < kWordBytes && !bytes_.empty(); ++i) {
      const Write of_byte = find(bytes_, word * kWordBytes + i);
      if (of_byte.order > last.order) last.link = add_link(last.link, of_byte.by);
    }
    changes_[word] = {add_link(last.link, by), ++count_};
  }

  // Returns the number of a link behind the last one of a word. A warp's changes come in its own order, so the latest
  // stands for those just before it.
  std::uint32_t add_link(std::uint32_t last, const BlockWrite& by) {
    Link next{by, last};
    if (last != 0) {
      Link& before = link(last);
      if (before.by == by) return last;
      next.of_others = before.by.block == by.block ? before.of_others : last;
      const bool is_own = before.by.block == by.block && before.by.warp == by.warp;
      if (is_own) next.before = before.before;
      if (is_own && before.number == 0) return before = next, last;
    }
    links_.push_back(next);
    return static_cast<std::uint32_t>(links_.size());
  }

  std::uint64_t count_ = 0;
  PageSet sector_pages_, word_pages_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;  // sectors
  Map words_, bytes_, more_sectors_;                                // more_sectors_: of other pages
  std::unordered_map<std::uint64_t, Change> changes_;               // by word: the latest one by an atomic
  std::vector<Link> links_;
};

struct GridFlow {
  GridWrites writes;                              // while SMs run at the same time: those of earlier rounds
  std::vector<AwaitedWrite> awaited;              // for which warps of other blocks wait
  std::map<AwaitedWrite, std::uint32_t> numbers;  // their indices in `awaited`
};

// What an SM adds in a round in which SMs run at the same time.
class GridFlowLog {
 public:
  struct Read {
    WarpTrace* trace = nullptr;
    std::uint32_t outcome = 0;
    BlockWrite by;
    bool operator==(const Read&) const = default;
  };

  void write(const Written& what, const BlockWrite& by) {
    writes_.emplace_back(what, by);
    pages_.put(what.address);
    if (what.sectors != 0) pages_.put(what.address + (what.sectors - 1) * kSectorBytes);
  }
  void read(const Read& read) {
    if (reads_.empty() || reads_.back() != read) reads_.push_back(read);
  }
  bool may_hold(std::uint64_t low, std::uint64_t end) const { return pages_.may_hold(low, end); }
  // What the SM has written in this round. No atomics do while SMs run at the same time (exec/runs_alone.h).
  const GridWrites& own() {
    for (; found_ < writes_.size(); ++found_) own_->put(writes_[found_].first, writes_[found_].second);
    return *own_;
  }

  const std::vector<Read>& reads() const { return reads_; }
  const std::vector<std::pair<Written, BlockWrite>>& writes() const { return writes_; }
  void clear() {
    reads_.clear();
    if (writes_.empty()) return;
    writes_.clear();
    pages_.clear();
    if (std::exchange(found_, 0) != 0) own_ = std::make_unique<GridWrites>();
  }

 private:
  std::vector<Read> reads_;
  std::vector<std::pair<Written, BlockWrite>> writes_;
  PageSet pages_;
  std::unique_ptr<GridWrites> own_ = std::make_unique<GridWrites>();  // the first `found_` of `writes_`
  std::size_t found_ = 0;
};

}  // namespace roofwalk::vgpu
