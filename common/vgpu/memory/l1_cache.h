// The L1 cache of one SM: which sectors it holds. The rules are in sectors.h.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/mix.h"
#include "common/vgpu/memory/frames.h"

namespace roofwalk::vgpu {

class L1Cache {
 public:
  L1Cache(std::int64_t size_bytes, int ways);
  // Takes its memory, empty, unless it has it already. To be called before the first request, so that a launch costs
  // nothing for SMs without a block.
  void open();

  // See L2Cache::use.
  void use(const Frames* frames) { frames_ = frames; }
  std::uint64_t frame_of(std::uint64_t line) const { return frames_ == nullptr ? line : frames_->frame_of(line); }

  // Looks up `sectors` of a line and fills those that miss; returns the mask of misses.
  unsigned read(std::uint64_t line, unsigned sectors) {
    const std::uint32_t slot = locate(line);
    if ((states_[slot] & kInGroup) != 0) settle_group();
    const auto flags = static_cast<unsigned>(states_[slot] & kFlags);
    states_[slot] = ++clock_ << kStampShift | flags | sectors;
    const unsigned missing = sectors & ~flags;
    if (missing != 0) fetched_by_[slot] = fetch_;
    return missing;
  }

  // A fetch is a request that misses in L1; fetches are numbered from 1. Returns the number of the current fetch or,
  // between fetches, of the next one.
  std::uint32_t fetch() const { return fetch_; }
  void end_fetch() { ++fetch_; }
  // Returns the newest fetch that brought a part of this line to L1; 0: none.
  std::uint32_t fetch_of(std::uint64_t line) const;

  // A warp that walks along rows requests the same kGroupLines lines many times in succession. `read_group` reads them
  // one by one and remembers their slots. While they remain there, `read_again` does all these reads in one step; it
  // returns false if the lines are different or sectors are missing.
  static constexpr int kGroupLines = 32;
  void read_group(const std::uint64_t (&lines)[kGroupLines], const std::uint8_t (&sectors)[kGroupLines],
                  std::uint8_t (&missing)[kGroupLines]);
  bool read_again(const std::uint64_t (&lines)[kGroupLines], const std::uint8_t (&sectors)[kGroupLines]) {
    std::uint64_t differs = group_.used ^ 1u;
    for (int i = 0; i < kGroupLines; ++i) differs |= lines[i] ^ group_.line[i];
    if (differs != 0) return false;
    std::uint8_t missing = 0;
    for (int i = 0; i < kGroupLines; ++i) missing |= static_cast<std::uint8_t>(sectors[i] & ~group_.valid[i]);
    if (missing != 0) return false;
    read_group_again();
    return true;
  }
  // This read_again() is for equally spaced lines, with the same sector of each.
  bool read_again(std::uint64_t first, std::uint64_t step, unsigned sector) {
    if (group_.used == 0 || group_.line[0] != first || group_.step != step || (sector & ~group_.all_valid) != 0)
      return false;
    read_group_again();
    return true;
  }

  // Invalidates all lines, as a fence does.
  void empty();
  // Invalidates a line that an atomic changed in L2.
  void drop(std::uint64_t line);

 private:
  static constexpr int kHintBits = 11;
  // states_ of a line: the stamp of its last use, whether it is in group_, and its valid sectors.
  static constexpr int kStampShift = 8;
  static constexpr std::uint64_t kFlags = 0xff, kInGroup = 0x80;

  // The lines of one request and their slots. To save time, their stamps in states_ are written only when something may
  // read them.
  struct Group {
    std::uint64_t used = 0;     // 1: holds a request
    std::uint64_t touched = 0;  // clock after the newest request with pending stamps; 0: none pending
    alignas(64) std::uint64_t line[kGroupLines] = {};
    std::uint8_t valid[kGroupLines] = {};  // sectors known to be valid
    std::uint64_t step = 0;                // distance between lines; 0: not constant
    unsigned all_valid = 0;                // sectors valid in all lines
    std::uint32_t slot[kGroupLines] = {};
  };

  void read_group_again() {
    clock_ += kGroupLines;
    group_.touched = clock_;
  }

  static std::size_t hint_of(std::uint64_t line) { return line * 0x9e3779b97f4a7c15ull >> (64 - kHintBits); }
  // Returns the slot of the line, after allocating it if L1 does not hold the line.
  std::uint32_t locate(std::uint64_t line) {
    // The hint is the line's last known slot: right for nearly every hit, and cheaper than hashing and searching.
    std::uint32_t& hint = hints_[hint_of(line)];
    if (tags_[hint] != line) hint = find_or_allocate(line);
    return hint;
  }
  // Writes the pending stamps of the group's lines.
  void settle_group() {
    if (group_.touched == 0) return;
    const std::uint64_t first = group_.touched - kGroupLines + 1;
    for (int i = 0; i < kGroupLines; ++i) {
      std::uint64_t& state = states_[group_.slot[i]];
      state = (first + static_cast<std::uint64_t>(i)) << kStampShift | (state & kFlags);
    }
    group_.touched = 0;
  }
  void forget_group();
  std::uint32_t find_or_allocate(std::uint64_t line);
  // As many lines in succession as there are sets (a stretch) are in different sets, so that L1 holds as many bytes in
  // succession as it is large. Each stretch has a pseudo-random order, so that lines at the same place of two stretches
  // are seldom in one set.
  std::size_t set_of(std::uint64_t line) const {
    const std::uint64_t frame = frame_of(line), number = divides_ ? frame / sets_ : frame >> set_bits_;
    Stretch& stretch = stretches_[number % std::size(stretches_)];
    if (stretch.number != number) {
      const std::uint64_t order = mix(number);
      stretch = {number, (*steps_)[order % steps_->size()], static_cast<std::uint32_t>((order >> 32) % sets_)};
    }
    const std::uint64_t place = (frame - number * sets_) * stretch.step + stretch.first;
    return static_cast<std::size_t>(divides_ ? place % sets_ : place & (sets_ - 1));
  }

  struct Stretch {
    std::uint64_t number = ~0ull;
    std::uint32_t step = 0, first = 0;
  };
  mutable Stretch stretches_[64];  // those of late, because their orders take long to compute
  const Frames* frames_ = nullptr;
  std::size_t sets_;
  bool divides_;  // the number of sets is no power of two
  int set_bits_;
  const std::vector<std::uint32_t>* steps_;  // the numbers up to sets_ that have no factor in common with it
  int ways_;
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint64_t> states_;
  std::vector<std::uint32_t> fetched_by_;  // newest fetch that brought a part of the line
  std::uint32_t fetch_ = 1;
  std::vector<std::uint32_t> hints_;  // index into tags_, by a hash of the line
  Group group_;
};

}  // namespace roofwalk::vgpu
