// The L2 cache: which sectors it holds, and what it reads from DRAM and writes back. The rules are in sectors.h.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/int128.h"
#include "common/base/mix.h"
#include "common/vgpu/memory/frames.h"
#include "common/vgpu/memory/sectors.h"

namespace roofwalk::vgpu {

class L2Cache {
 public:
  // `dram_access_bytes`: what DRAM delivers at least: one sector, or a pair of neighbours.
  L2Cache(std::int64_t size_bytes, int ways, int dram_access_bytes = kSectorBytes);

  // Sets the frames of the lines; nullptr: frame numbers are line numbers. Call only on an empty cache.
  void use(const Frames* frames) { frames_ = frames; }

  // Forgets everything: the state at the start of a plan.
  void invalidate();

  // A line, and the index of its set's first way.
  struct Place {
    std::uint64_t line = 0;
    std::size_t first = 0;
  };
  Place place_of(std::uint64_t line) const { return {line, set_of(line) * static_cast<std::size_t>(ways_)}; }
  // Like place_of(), but also prefetches into the host's caches what `read` and `write` access first.
  Place prefetch(std::uint64_t line) const {
    const Place place = place_of(line);
    const std::size_t first = place.first;
    __builtin_prefetch(&tags_[first]);
    __builtin_prefetch(&tags_[first + static_cast<std::size_t>(ways_) / 2]);
    __builtin_prefetch(&ages_[first]);
    __builtin_prefetch(&states_[first]);
    return place;
  }

  // A fetch is a request that reads from DRAM; fetches are numbered from 1. Returns the number of the current fetch or,
  // between fetches, of the next one.
  std::uint32_t fetch() const { return fetch_; }
  void end_fetch() { ++fetch_; }
  // Returns the newest fetch that brought a part of this line to L2; 0: none.
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
  bool reads_pairs_;  // DRAM delivers sectors in pairs
  std::uint32_t fetch_ = 1;
  // Indexed by set and way. Kept in separate arrays, because most requests read only the first three.
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint16_t> ages_;  // number of lines in the set that were used more recently
  std::vector<std::uint8_t> states_;
  std::vector<std::uint32_t> fetched_by_;  // newest fetch that read a part of the line from DRAM
  std::vector<InstructionId> writers_;     // site of the newest store, to which the write-back is charged
  std::vector<Written> written_;           // bytes written to sectors that are dirty and not valid
};

}  // namespace roofwalk::vgpu
