// The exact counts of the memory hierarchy: one sectored L1 per SM (write-through, no allocation on stores), one
// sectored write-back L2, and DRAM behind L2. Lines of 128 bytes hold four sectors of 32 bytes.
//
// The rules that fix the counts:
// - A read requests sectors from L1. Sectors that miss in L1 are read from L2, and sectors that miss in L2 from DRAM.
// - Loads that bypass L1 (passes_l1() in instructions.h) read all their sectors from L2. Acquires and fences beyond
//   block scope empty L1.
// - A store goes through L1 to L2. A copy of the line in L1 is updated and stays valid.
// - L2 accepts a store without a read: each sector keeps a mask of its written bytes. A fully written sector is
//   valid. A partly written sector costs one fill read when it is read or evicted from L2.
// - Dirty sectors are written to DRAM when their line is evicted from L2, and the rest at the end of the plan.
// - Replacement is least recently used. The set is murmur3's 64-bit finalizer of the line's frame number (frames.h),
//   modulo the number of sets.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/int128.h"
#include "common/base/mix.h"
#include "common/vgpu/memory/frames.h"

namespace roofwalk::vgpu {

inline constexpr int kSectorBytes = 32;
inline constexpr int kLineBytes = 128;

// Identifies the site that caused traffic: its index in the plan's list of counters.
using InstructionId = std::uint32_t;

// DRAM traffic that one site caused, in sectors.
struct InstructionTraffic {
  std::uint64_t dram_read_sectors = 0, dram_write_sectors = 0;
};

class L2Cache {
 public:
  L2Cache(std::int64_t size_bytes, int ways);

  // nullptr: frame numbers are line numbers. Call only on an empty cache.
  void use(const Frames* frames) { frames_ = frames; }

  // Forgets everything: the state at the start of a plan.
  void invalidate();

  // A line, and the index of its set's first way.
  struct Place {
    std::uint64_t line = 0;
    std::size_t first = 0;
  };
  Place place_of(std::uint64_t line) const { return {line, set_of(line) * static_cast<std::size_t>(ways_)}; }
  // The same; also prefetches what `read` and `write` access first into the host's caches.
  Place prefetch(std::uint64_t line) const {
    const Place place = place_of(line);
    const std::size_t first = place.first;
    __builtin_prefetch(&tags_[first]);
    __builtin_prefetch(&tags_[first + static_cast<std::size_t>(ways_) / 2]);
    __builtin_prefetch(&ages_[first]);
    __builtin_prefetch(&states_[first]);
    return place;
  }

  // Number, from 1, of the current request that reads from DRAM, or of the next such request.
  std::uint32_t fetch() const { return fetch_; }
  void end_fetch() { ++fetch_; }
  // The newest fetch that brought a part of this line to L2; 0: none.
  std::uint32_t fetch_of(Place place) const;

  // Reads `sectors` (4-bit mask) of a line; returns the mask of those that L2 did not hold.
  unsigned read(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic);

  // Writes bytes of a line: either one 32-bit mask of written bytes per sector (0: untouched), or whole sectors.
  // Returns the mask of sectors that became dirty; each of them will be written to DRAM once.
  unsigned write(Place place, const std::uint32_t (&bytes)[4], InstructionId site,
                 std::vector<InstructionTraffic>& traffic);
  unsigned write(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic);

  // For atomics: reads and writes `sectors`, which are valid and dirty afterwards. Returns the masks of misses and of
  // newly dirty sectors.
  struct Updated {
    unsigned missed = 0, dirtied = 0;
  };
  Updated update(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic);

  // Writes back all dirty sectors, as at the end of a plan. Lines stay valid.
  void write_back_all(std::vector<InstructionTraffic>& traffic);

 private:
  struct Written {  // by sector, one bit per byte
    std::uint32_t of_sector[4];
  };
  static constexpr std::uint64_t kNoTag = ~0ull;
  // states_ of a line: the mask of valid sectors and, shifted, the mask of dirty ones. A partly written sector is
  // dirty and not valid.
  static constexpr unsigned kValid = 0xf, kDirtyShift = 4;

  std::size_t find_or_allocate(Place place, std::vector<InstructionTraffic>& traffic);
  void write_back(std::size_t at, std::vector<InstructionTraffic>& traffic);
  unsigned read_at(std::size_t at, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic);
  // Returns those of `sectors` that were clean.
  unsigned make_dirty(std::size_t at, unsigned sectors, unsigned valid, InstructionId site);

  std::size_t set_of(std::uint64_t line) const {
    const std::uint64_t frame = frames_ == nullptr ? line : frames_->frame_of(line);
    return static_cast<std::size_t>((static_cast<UInt128>(mix(frame)) * sets_) >> 64);
  }

  const Frames* frames_ = nullptr;
  std::size_t sets_;
  int ways_;
  std::uint32_t fetch_ = 1;
  // Indexed by set and way. Kept in separate arrays, because most requests read only the first three.
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint16_t> ages_;  // number of lines in the set that were used more recently
  std::vector<std::uint8_t> states_;
  std::vector<std::uint32_t> fetched_by_;  // newest fetch that read a part of the line from DRAM
  std::vector<InstructionId> writers_;     // site of the newest store, to which the write-back is charged
  std::vector<Written> written_;           // bytes written to sectors that are dirty and not valid
};

class L1Cache {
 public:
  L1Cache(std::int64_t size_bytes, int ways);
  void invalidate();

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

  // Number, from 1, of the current request that misses in L1, or of the next such request.
  std::uint32_t fetch() const { return fetch_; }
  void end_fetch() { ++fetch_; }
  // The newest fetch that brought a part of this line to L1; 0: none.
  std::uint32_t fetch_of(std::uint64_t line) const;

  // A warp that walks along rows requests the same kGroupLines lines many times in a row. `read_group` reads them one
  // by one and remembers their slots. While they remain there, `read_again` does all these reads in one step; it
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
  // The same for lines with equal distances, one sector of each.
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

  // The lines of one request and their slots. Their stamps are written only when something may read them.
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
  // Slot of the line, which is allocated if L1 does not hold it.
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
  std::size_t set_of(std::uint64_t line) const {
    return static_cast<std::size_t>((static_cast<UInt128>(mix(frame_of(line))) * sets_) >> 64);
  }

  const Frames* frames_ = nullptr;
  std::size_t sets_;
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
