// The memory hierarchy's exact counts: a sectored L1 an SM (write-through, no allocation on stores), one sectored
// write-back L2, DRAM behind it. Lines of 128 bytes hold four sectors of 32.
//
// The rules that fix the counts:
// - A read asks L1 for sectors; those it lacks are read from L2, and from DRAM where L2 lacks them too.
// - Loads that L1 may not answer (passes_l1() in program.h) ask L2 for all their sectors. Fences beyond the block empty
//   L1, and so does what acquires.
// - A store goes through L1 to L2. A copy of the line in L1 is brought up to date and stays valid.
// - L2 takes a store without reading: each sector keeps a mask of its written bytes. A fully written sector is valid. A
//   partly written one costs one fill read when it is read or leaves L2.
// - Dirty sectors are written to DRAM when their line leaves L2, and the rest at the end of the plan.
// - Victims: least recently used. Sets: murmur3's 64-bit finalizer over the number of the line's frame (frames.h),
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

// Who caused traffic: the index of a site in the plan's list of counters.
using SiteId = std::uint32_t;

// DRAM and L2 traffic that one site caused. Counts of sectors.
struct SiteTraffic {
  std::uint64_t dram_read_sectors = 0, dram_write_sectors = 0;
};

class L2Cache {
 public:
  L2Cache(std::int64_t size_bytes, int ways);

  // nullptr: every line is its own frame. Of an empty cache.
  void use(const Frames* frames) { frames_ = frames; }

  // Forgets everything: the state at the start of a plan.
  void invalidate();

  // A line, and where its set begins.
  struct Place {
    std::uint64_t line = 0;
    std::size_t first = 0;
  };
  Place place_of(std::uint64_t line) const { return {line, set_of(line) * static_cast<std::size_t>(ways_)}; }
  // The same, and brings what `read` and `write` of it look at first into the host's caches.
  Place prefetch(std::uint64_t line) const {
    const Place place = place_of(line);
    const std::size_t first = place.first;
    __builtin_prefetch(&tags_[first]);
    __builtin_prefetch(&tags_[first + static_cast<std::size_t>(ways_) / 2]);
    __builtin_prefetch(&ages_[first]);
    __builtin_prefetch(&states_[first]);
    return place;
  }

  // Requests that read from DRAM have numbers, from 1 on: the one that reads now, or will next.
  std::uint32_t fetch() const { return fetch_; }
  void end_fetch() { ++fetch_; }
  // The newest one that brought part of a line that L2 holds; 0: none.
  std::uint32_t fetch_of(Place place) const;

  // Reads `sectors` (4-bit mask) of a line; returns the mask of those that L2 did not hold.
  unsigned read(Place place, unsigned sectors, SiteId site, std::vector<SiteTraffic>& traffic);

  // Writes bytes of a line: one 32-bit mask of written bytes a sector (0: untouched); or whole sectors. Returns the
  // mask of the sectors that it made dirty: each will be written to DRAM once.
  unsigned write(Place place, const std::uint32_t (&bytes)[4], SiteId site, std::vector<SiteTraffic>& traffic);
  unsigned write(Place place, unsigned sectors, SiteId site, std::vector<SiteTraffic>& traffic);

  // Reads, changes and keeps `sectors` (atomics): they end valid and dirty. Returns the masks of misses and of sectors
  // that it made dirty.
  struct Updated {
    unsigned missed = 0, dirtied = 0;
  };
  Updated update(Place place, unsigned sectors, SiteId site, std::vector<SiteTraffic>& traffic);

  // Writes back what is dirty, as at the end of a plan. Lines stay valid.
  void write_back_all(std::vector<SiteTraffic>& traffic);

 private:
  struct Written {  // by sector, a bit a byte
    std::uint32_t of_sector[4];
  };
  static constexpr std::uint64_t kNoTag = ~0ull;
  // What states_ holds of a line: its valid sectors, and shifted, its dirty ones. A partly written sector is dirty and
  // not valid.
  static constexpr unsigned kValid = 0xf, kDirtyShift = 4;

  std::size_t find_or_allocate(Place place, std::vector<SiteTraffic>& traffic);
  void write_back(std::size_t at, std::vector<SiteTraffic>& traffic);
  unsigned read_at(std::size_t at, unsigned sectors, SiteId site, std::vector<SiteTraffic>& traffic);
  // Returns what was clean of `sectors`.
  unsigned make_dirty(std::size_t at, unsigned sectors, unsigned valid, SiteId site);

  std::size_t set_of(std::uint64_t line) const {
    const std::uint64_t frame = frames_ == nullptr ? line : frames_->frame_of(line);
    return static_cast<std::size_t>((static_cast<UInt128>(mix(frame)) * sets_) >> 64);
  }

  const Frames* frames_ = nullptr;
  std::size_t sets_;
  int ways_;
  std::uint32_t fetch_ = 1;
  // By set and way, apart from each other: most requests look at the first three and no further.
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint16_t> ages_;  // how many lines of the set were used since
  std::vector<std::uint8_t> states_;
  std::vector<std::uint32_t> fetched_by_;  // the newest that read part of it from DRAM
  std::vector<SiteId> writers_;            // of the newest store: pays for the write-back
  std::vector<Written> written_;           // what stores wrote into sectors that are dirty and not valid
};

class L1Cache {
 public:
  L1Cache(std::int64_t size_bytes, int ways);
  void invalidate();

  // As of L2.
  void use(const Frames* frames) { frames_ = frames; }
  std::uint64_t frame_of(std::uint64_t line) const { return frames_ == nullptr ? line : frames_->frame_of(line); }

  // Looks up and fills `sectors` of a line; returns the mask of misses.
  unsigned read(std::uint64_t line, unsigned sectors) {
    const std::uint32_t slot = locate(line);
    if ((states_[slot] & kInGroup) != 0) settle_group();
    const auto flags = static_cast<unsigned>(states_[slot] & kFlags);
    states_[slot] = ++clock_ << kStampShift | flags | sectors;
    const unsigned missing = sectors & ~flags;
    if (missing != 0) fetched_by_[slot] = fetch_;
    return missing;
  }

  // Requests that L1 cannot answer have numbers, from 1 on: the one that asks now, or will next.
  std::uint32_t fetch() const { return fetch_; }
  void end_fetch() { ++fetch_; }
  // The newest one that brought part of a line that L1 holds; 0: none.
  std::uint32_t fetch_of(std::uint64_t line) const;

  // Warps that walk along rows ask for the same kGroupLines lines many times in a row. `read_group` reads such lines
  // one by one and keeps where they are; while they stay there, `read_again` does at once what reading them would do.
  // False where it cannot: other lines, or sectors that were not there.
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
  // The same for lines of equal distance and one sector of each.
  bool read_again(std::uint64_t first, std::uint64_t step, unsigned sector) {
    if (group_.used == 0 || group_.line[0] != first || group_.step != step || (sector & ~group_.all_valid) != 0)
      return false;
    read_group_again();
    return true;
  }

  // Drops all lines, as a fence does.
  void empty();
  // Drops a line: an atomic changed it behind L1's back.
  void drop(std::uint64_t line);

 private:
  static constexpr int kHintBits = 11;
  // What states_ holds of a line: the stamp of its last use, whether it belongs to group_, and its valid sectors.
  static constexpr int kStampShift = 8;
  static constexpr std::uint64_t kFlags = 0xff, kInGroup = 0x80;

  // The lines of one request, and where they are. Their stamps are written only when somebody may look at them.
  struct Group {
    std::uint64_t used = 0;     // 1: holds a request
    std::uint64_t touched = 0;  // what the clock was after the newest request, if stamps are still to be written
    alignas(64) std::uint64_t line[kGroupLines] = {};
    std::uint8_t valid[kGroupLines] = {};  // sectors, at least
    std::uint64_t step = 0;                // from line to line; 0: not always the same
    unsigned all_valid = 0;                // sectors that all lines have
    std::uint32_t slot[kGroupLines] = {};
  };

  void read_group_again() {
    clock_ += kGroupLines;
    group_.touched = clock_;
  }

  static std::size_t hint_of(std::uint64_t line) { return line * 0x9e3779b97f4a7c15ull >> (64 - kHintBits); }
  // Where the line is, or will be from now on.
  std::uint32_t locate(std::uint64_t line) {
    // Where it was last seen: right for nearly every hit, and cheaper than hash and search.
    std::uint32_t& hint = hints_[hint_of(line)];
    if (tags_[hint] != line) hint = find_or_allocate(line);
    return hint;
  }
  // Writes the stamps that the group's lines have earned.
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
  std::vector<std::uint32_t> fetched_by_;  // the newest that brought part of it
  std::uint32_t fetch_ = 1;
  std::vector<std::uint32_t> hints_;  // index into tags_, by a hash of the line
  Group group_;
};

}  // namespace roofwalk::vgpu
