// Which words the lanes of a load or store touch, relative to the lowest word, so that an access in lockstep can be
// checked as a whole. The offsets of the lanes are fixed when the kernel is lowered, so all blocks of a launch share
// these patterns. A sanitized launch runs on one host thread (grid.cpp), so they need no lock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/vgpu/program/program.h"
#include "common/vgpu/sanitizer/knowledge.h"
#include "common/vgpu/sanitizer/shared_touch.h"

namespace roofwalk::vgpu {

// The words that one or several instructions touch, and the lanes that touch each word. Empty if the accesses must be
// checked one by one.
struct TouchPattern {
  std::vector<std::uint32_t> words, lanes;
  std::vector<std::uint32_t> pcs = {};  // if the pattern is of several instructions: the one that touches each word
  struct Stretch {
    std::uint32_t first = 0, count = 0;
  };
  std::vector<Stretch> stretches = {};  // runs of adjacent words
  bool apart = false;                   // no word is touched by two lanes
  bool is_contiguous() const { return stretches.size() == 1; }
  std::size_t bytes() const;
};

// A touch that the race detector remembers.
struct TouchRecord {
  Clock clock = 0;  // for a copy: the number of its batch (copy_groups.h)
  std::uint32_t pc = 0;
  std::uint32_t lanes = 0;  // the warp's lanes that touched the word; if there is a pattern, it has them
  std::uint32_t warp = 0;
  SharedTouch touch = SharedTouch::read;
  const TouchPattern* pattern = nullptr;
  std::size_t first_word = 0;  // the lowest word of the pattern's touches
};

class TouchPatterns {
 public:
  // The patterns of a launch take at most `most_bytes`. Accesses that find no room get an empty pattern.
  explicit TouchPatterns(std::uint32_t word_bytes, std::size_t most_bytes = std::size_t{16} << 20);

  // The pattern of a load or store by a whole warp, `bytes` per lane. Adds the work (work.h) of making it to
  // `work`, if it is new.
  const TouchPattern& of(std::uint32_t pc, const LaneOffsets& offsets, std::uint32_t bytes, std::uint64_t& work) {
    if (pc < by_pc_.size() && by_pc_[pc] != nullptr) return *by_pc_[pc];
    return make(pc, offsets, bytes, work);
  }
  // The pattern of all loads of one side of a ProductRun; `number` identifies the side. Empty if two of the loads touch
  // a word with different lanes.
  const TouchPattern& of_side(std::size_t number, const LaneOffsets& offsets, const ProductRun::Side& side,
                              std::uint64_t& work) {
    if (number < by_side_.size() && by_side_[number] != nullptr) return *by_side_[number];
    return make_side(number, offsets, side, work);
  }

 private:
  struct Touch {
    std::uint32_t word = 0, lanes = 0, pc = 0;
  };
  const TouchPattern& make(std::uint32_t pc, const LaneOffsets& offsets, std::uint32_t bytes, std::uint64_t& work);
  const TouchPattern& make_side(std::size_t number, const LaneOffsets& offsets, const ProductRun::Side& side,
                                std::uint64_t& work);
  // Appends the words of a load in ascending order.
  void add(const ProductRun::Load& load, std::int64_t low, const LaneOffsets& offsets, std::uint32_t bytes,
           std::vector<Touch>& touches, std::uint64_t& work) const;
  const TouchPattern* keep(std::span<const Touch> touches, bool has_pcs);

  int word_shift_;  // from byte offset to word index
  std::size_t bytes_left_;
  std::vector<std::unique_ptr<const TouchPattern>> all_;
  std::vector<const TouchPattern*> by_pc_, by_side_;
  // Most instructions of a kernel have the offsets and the size of some other one.
  std::map<std::pair<std::uint32_t, std::array<std::uint64_t, kWarpSize>>, const TouchPattern*> by_offsets_;
};

}  // namespace roofwalk::vgpu
