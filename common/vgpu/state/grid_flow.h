// The writes to global memory by traced warps of a grid whose code has a loop that only looks there: which write a load
// of another block sees (global_flow.h).
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
#include "common/vgpu/trace/trace.h"

namespace roofwalk::vgpu {

// What a store wrote: a word of four bytes, or the whole of some sectors in a row.
struct Written {
  std::uint64_t address = 0;
  std::uint32_t sectors = 0;  // 0: a word
};

// A set of pages of memory. It may have pages that nobody put there.
class PageSet {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  void put(std::uint64_t address) {
    if (bits_.empty()) bits_.resize(kBits);
    bits_[address / kPageBytes % kBits] = true;
  }
  bool may_hold(std::uint64_t low, std::uint64_t end) const {
    constexpr std::uint64_t kFew = 16;  // pages
    if (bits_.empty()) return false;
    const std::uint64_t first = low / kPageBytes, last = (end - 1) / kPageBytes;
    bool may = last - first >= kFew;
    for (std::uint64_t page = first; !may && page <= last; ++page) may = bits_[page % kBits];
    return may;
  }
  void clear() { bits_.clear(); }

 private:
  static constexpr std::uint64_t kBits = 1u << 14;
  std::vector<bool> bits_;
};

// The latest write of each word.
class GridWrites {
 public:
  static constexpr std::uint64_t kWordBytes = 4;
  struct Write {
    BlockWrite by;
    std::uint64_t order = 0;  // greater than that of earlier writes; 0: none
  };

  void put(const Written& what, const BlockWrite& by) {
    const Write write{by, ++count_};
    if (what.sectors == 0) {
      word_pages_.put(what.address);
      return put(words_, what.address / kWordBytes, write);
    }
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
  // Whether a store of single words may have written to the sector of this address.
  bool may_hold_words(std::uint64_t address) const { return word_pages_.may_hold(address, address + 1); }

  // Returns an empty write if nobody has written the word, or the whole sector.
  Write of_word(std::uint64_t address) const {
    const Write sector = of_sector(address);
    const auto word = words_.find(address / kWordBytes);
    return word != words_.end() && word->second.order > sector.order ? word->second : sector;
  }
  Write of_sector(std::uint64_t address) const {
    if (const auto found = pages_.find(address / PageSet::kPageBytes); found != pages_.end())
      return (*found->second)[address / kSectorBytes % kSectorsOfPage];
    if (more_sectors_.empty()) return {};
    const auto found = more_sectors_.find(address / kSectorBytes);
    return found == more_sectors_.end() ? Write{} : found->second;
  }

 private:
  static constexpr std::size_t kMostKept = 1u << 22, kMostPages = 1u << 15;  // 256 MB, 96 MB
  static constexpr std::size_t kSectorsOfPage = PageSet::kPageBytes / kSectorBytes;
  using Page = std::array<Write, kSectorsOfPage>;
  using Map = std::unordered_map<std::uint64_t, Write>;

  // Returns nullptr if there are too many pages.
  Page* page_of(std::uint64_t address) {
    const auto found = pages_.find(address / PageSet::kPageBytes);
    if (found != pages_.end()) return found->second.get();
    if (pages_.size() == kMostPages) return nullptr;
    return pages_.emplace(address / PageSet::kPageBytes, std::make_unique<Page>()).first->second.get();
  }

  static void put(Map& map, std::uint64_t key, const Write& write) {
    const auto found = map.find(key);
    if (found != map.end()) {
      found->second = write;
    } else if (map.size() < kMostKept) {
      map.emplace(key, write);
    }
  }

  std::uint64_t count_ = 0;
  PageSet sector_pages_, word_pages_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;  // sectors
  Map words_, more_sectors_;                                        // more_sectors_: of other pages
};

struct GridFlow {
  GridWrites writes;                            // while SMs run at the same time: those of earlier rounds
  std::vector<BlockWrite> awaited;              // for which warps of other blocks wait
  std::map<BlockWrite, std::uint32_t> numbers;  // their indices in `awaited`
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
  // Returns an empty write if the SM has not written the word in this round.
  GridWrites::Write of_word(std::uint64_t address) {
    for (; found_ < writes_.size(); ++found_) own_->put(writes_[found_].first, writes_[found_].second);
    return own_->of_word(address);
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
