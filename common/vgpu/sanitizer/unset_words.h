// Words of shared memory to which a value was written that nobody had set (state/unset_values.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>

namespace roofwalk::vgpu {

class UnsetWords {
 public:
  bool empty() const { return words_.empty(); }
  bool hold(std::size_t word) const { return !words_.empty() && words_.contains(word); }
  void add(std::size_t word) { words_.insert(word); }
  void remove(std::size_t word) {
    if (!words_.empty()) words_.erase(word);
  }
  void clear() {
    if (!words_.empty()) words_ = {};
    met_ = false;
  }

  // meet: a load that may carry such values on has found one, or an unwritten word. take_met: whether one has, since
  // the last call.
  void meet() { met_ = true; }
  bool take_met() { return std::exchange(met_, false); }

 private:
  std::unordered_set<std::size_t> words_;
  bool met_ = false;
};

}  // namespace roofwalk::vgpu
