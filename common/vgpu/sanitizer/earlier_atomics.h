// The atomics on words of a block's shared memory in front of the latest one, which the word itself remembers: of each
// warp, the latest that the thread of a later atomic need not know of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/vgpu/sanitizer/touch_patterns.h"

namespace roofwalk::vgpu {

class EarlierAtomics {
 public:
  explicit EarlierAtomics(std::size_t warps) : warps_(warps) {}

  // Whether words from `first` to `last` may have any. Costs nothing where no word has.
  bool may_have(std::size_t first, std::size_t last) const { return first <= last_ && first_ <= last; }
  // The atomics on a word, by warp (without lanes: it has none); empty: there are none.
  std::span<const TouchRecord> of(std::size_t word) const {
    if (!may_have(word, word) || group_of_[word] == 0) return {};
    return {&atomics_[(group_of_[word] - 1) * warps_], warps_};
  }

  // There are `words` in all. Beyond kMost, words that have none yet remember none.
  void add(std::size_t word, std::size_t words, const TouchRecord& atomic) {
    group_of_.resize(words);
    std::uint32_t& group = group_of_[word];
    if (group == 0) {
      if (atomics_.size() + warps_ > kMost) return;
      atomics_.resize(atomics_.size() + warps_);
      group = static_cast<std::uint32_t>(atomics_.size() / warps_);
      used_.push_back(word);
      first_ = std::min(first_, word);
      last_ = std::max(last_, word);
    }
    atomics_[(group - 1) * warps_ + atomic.warp] = atomic;
  }

  // A touch of the word is behind all of them.
  void forget(std::size_t word) {
    if (of(word).empty()) return;
    std::fill_n(&atomics_[(group_of_[word] - 1) * warps_], warps_, TouchRecord{});
  }
  void forget_all() {
    if (used_.empty()) return;
    for (const std::size_t word : used_) group_of_[word] = 0;
    used_.clear();
    atomics_.clear();
    first_ = ~std::size_t{0};
    last_ = 0;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 13;

  std::size_t warps_;
  std::size_t first_ = ~std::size_t{0}, last_ = 0;  // the words that have some lie between
  std::vector<std::uint32_t> group_of_;             // by word: 1 + the number of its atomics' group; 0: none
  std::vector<TouchRecord> atomics_;                // by group, then by warp
  std::vector<std::size_t> used_;                   // the words that have a group
};

}  // namespace roofwalk::vgpu
