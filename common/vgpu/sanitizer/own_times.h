// What the lanes of a warp have released at each word, for the other lanes of their own warp. The locks of the race
// detector tell a time of a whole warp, which would also cover what other lanes did in the meantime.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/vgpu/sanitizer/knowledge.h"

namespace roofwalk::vgpu {

struct OwnTimes {
  std::uint32_t warp = 0;
  Clock from_others = 0;  // the time of this warp that other warps have passed on at this word
  LaneClocks lanes{};     // by lane: what it did up to this time is released by the lane itself
};

class OwnTimesOfWords {
 public:
  // A lane releases at a word what it has done up to a time. `passed_on`: what the word's lock told of the warp before.
  // Returns the bytes by which this has grown.
  std::size_t release(std::size_t word, std::uint32_t warp, int lane, Clock time, Clock passed_on) {
    auto& of_word = of_words_[word];
    auto at = std::ranges::find(of_word, warp, &OwnTimes::warp);
    const bool is_new = at == of_word.end();
    if (is_new) at = of_word.insert(at, {warp, passed_on, {}});
    Clock& released = at->lanes[static_cast<std::size_t>(lane)];
    released = std::max(released, time);
    return is_new ? sizeof(OwnTimes) + kBytesOfNode : 0;
  }
  // A warp passes on at a word what it knows of other warps.
  void pass_on(std::size_t word, std::uint32_t by_warp, const Knowledge& known) {
    const auto at = of_words_.find(word);
    if (at == of_words_.end()) return;
    for (OwnTimes& times : at->second) {
      if (times.warp != by_warp) times.from_others = std::max(times.from_others, known.warps[times.warp]);
    }
  }
  // Null if no lane of the warp has released anything there.
  const OwnTimes* find(std::size_t word, std::uint32_t warp) const {
    const auto at = of_words_.find(word);
    if (at == of_words_.end()) return nullptr;
    const auto times = std::ranges::find(at->second, warp, &OwnTimes::warp);
    return times == at->second.end() ? nullptr : &*times;
  }
  // From now on, all words are word 0.
  void become_one() {
    std::vector<OwnTimes> all;
    for (const auto& [word, of_word] : of_words_) {
      for (const OwnTimes& times : of_word) {
        auto at = std::ranges::find(all, times.warp, &OwnTimes::warp);
        if (at == all.end()) at = all.insert(at, {times.warp, 0, {}});
        at->from_others = std::max(at->from_others, times.from_others);
        for (std::size_t l = 0; l < times.lanes.size(); ++l) at->lanes[l] = std::max(at->lanes[l], times.lanes[l]);
      }
    }
    clear();
    of_words_[0] = std::move(all);
  }
  void clear() { of_words_ = {}; }

 private:
  static constexpr std::size_t kBytesOfNode = 64;

  std::unordered_map<std::size_t, std::vector<OwnTimes>> of_words_;
};

}  // namespace roofwalk::vgpu
