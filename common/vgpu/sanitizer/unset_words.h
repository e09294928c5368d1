// Words of shared memory to which a value was written that nobody had set (state/unset_values.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace roofwalk::vgpu {

class UnsetWords {
 public:
  bool empty() const { return words_.empty(); }
  bool hold(std::size_t word) const { return !words_.empty() && words_.contains(word); }
  // The bits of a word that nobody had set.
  std::uint32_t bits(std::size_t word) const {
    const auto at = words_.find(word);
    return at == words_.end() ? 0 : at->second;
  }
  void add(std::size_t word, std::uint32_t bits) {
    if (bits != 0) words_.insert_or_assign(word, bits);
  }
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
  std::unordered_map<std::size_t, std::uint32_t> words_;  // bits by word
  bool met_ = false;
};

}  // namespace roofwalk::vgpu
