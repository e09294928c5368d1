// The L2 cache: which sectors it holds, and what it reads from DRAM and writes back. The rules are in sectors.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "common/base/int128.h"
#include "common/base/mix.h"
#include "common/specs/machine.h"
#include "common/vgpu/memory/frames.h"
#include "common/vgpu/memory/sectors.h"

namespace roofwalk::vgpu {

// An L2 with two halves (Machine::l2_far_latency_cycles): every line has a home in one of them, and a copy in the other
// if SMs there read it. Writes and atomics go to the home and drop the copy.
class L2Cache {
 public:
  // `dram_access_bytes`: what DRAM delivers at least: one sector, or a pair of neighbours.
  L2Cache(std::int64_t size_bytes, int ways, int dram_access_bytes = kSectorBytes);
  explicit L2Cache(const Machine& machine);

  // Sets the frames of the lines; nullptr: frame numbers are line numbers. Call only on an empty cache.
  void use(const Frames* frames) { frames_ = frames; }

  // Forgets everything: the state at the start of a plan.
  void invalidate();

  // A line, and the index of its set's first way; with two halves also that of the set for its copy. `is_far`: the half
  // with the copy is that of the SM that asks.
  struct Place {
    std::uint64_t line = 0;
    std::uint32_t first = 0, copy : 31 = 0, is_far : 1 = 0;
  };
  // `sm`: the SM that asks.
  Place place_of(std::uint64_t line, std::size_t sm = 0) const {
    const auto set = static_cast<std::uint32_t>(set_of(line)), ways = static_cast<std::uint32_t>(ways_);
    if (!has_halves_) return {line, set * ways};
    const auto half = static_cast<std::uint32_t>(sets_ / 2), home = set / half;
    return {line, set * ways, (home == 0 ? set + half : set - half) * ways & kPlaces, sm % 2 != home};
  }
  // Like place_of(), but also prefetches into the host's caches what `read` and `write` access first.
  Place prefetch(std::uint64_t line, std::size_t sm) const {
    const Place place = place_of(line, sm);
    const std::size_t first = place.is_far ? place.copy : place.first;
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
  // Returns the newest fetch that brought a part of this line to the half that serves `sectors` (kAtHome: the line's
  // home); 0: none.
  static constexpr unsigned kAtHome = ~0u;
  std::uint32_t fetch_of(Place place, unsigned sectors) const;

  // Reads `sectors` (4-bit mask) of a line; returns the masks of those that L2 did not hold, and of what it read from
  // DRAM because of them. `is_far`: the half that is not the SM's own served some.
  struct Missed {
    unsigned asked = 0, fetched = 0;
    bool is_far = false;
  };
  Missed read(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic) {
    if (place.is_far) return read_copy(place, sectors, site, traffic);
    return read_at(find_or_allocate(place.line, place.first, traffic), sectors, site, traffic);
  }

  // Writes bytes of a line: either one 32-bit mask of written bytes per sector (0: untouched), or whole sectors.
  // Returns the mask of sectors that became dirty; each of them will be written to DRAM once.
  unsigned write(Place place, const std::uint32_t (&bytes)[4], InstructionId site,
                 std::vector<InstructionTraffic>& traffic);
  unsigned write(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic);

  // For atomics: reads and writes `sectors`, which are valid and dirty afterwards. Returns the masks of misses and of
  // newly dirty sectors.
  struct Updated {
    Missed missed;
    unsigned dirtied = 0;
  };
  Updated update(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic);

  // Whether DRAM has to open a page to read the line, because the page's bank has another one open. False on a machine
  // that opens as many as it needs. To be called for each line that is read from DRAM.
  bool opens_page(std::uint64_t line);

  // Writes back all dirty sectors, as at the end of a plan. Lines stay valid.
  void write_back_all(std::vector<InstructionTraffic>& traffic);

 private:
  struct Written {  // by sector, one bit per byte
    std::uint32_t of_sector[4];
  };
  static constexpr std::uint64_t kNoTag = ~0ull;
  static constexpr std::uint32_t kPlaces = (1u << 31) - 1;  // L2 has fewer lines
  // states_ of a line: the mask of valid sectors and, shifted, the mask of dirty ones. A partly written sector is
  // dirty and not valid.
  static constexpr unsigned kValid = 0xf, kDirtyShift = 4;

  // `first`: of the set of its home or of its copy.
  std::size_t find_or_allocate(std::uint64_t line, std::size_t first, std::vector<InstructionTraffic>& traffic);
  // Calls `visit(begin, end)` for each chunk of lines that has been used since invalidate(), in order.
  template <class Visit>
  void visit_used(Visit visit) {
    for (std::size_t chunk = 0; chunk < used_.size(); ++chunk) {
      if (used_[chunk] != 0) visit(chunk << kChunkShift, std::min((chunk + 1) << kChunkShift, tags_.size()));
    }
  }
  void drop_copy(Place place);
  void write_back(std::size_t at, std::vector<InstructionTraffic>& traffic);
  Missed read_at(std::size_t at, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic) {
    const unsigned missing = sectors & ~static_cast<unsigned>(states_[at]);
    if (missing == 0) return {};
    // The other sector of each pair comes along.
    const unsigned fetched = reads_pairs_ ? missing | (missing & 0b0101) << 1 | (missing & 0b1010) >> 1 : missing;
    traffic[site].dram_read_sectors += std::popcount(fetched);
    fetched_by_[at] = fetch_;
    states_[at] = static_cast<std::uint8_t>(states_[at] | fetched);
    return {missing, fetched};
  }
  Missed read_copy(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic);
  // Returns those of `sectors` that were clean.
  unsigned make_dirty(std::size_t at, unsigned sectors, unsigned valid, InstructionId site);

  std::uint64_t frame_of(std::uint64_t line) const { return frames_ == nullptr ? line : frames_->frame_of(line); }
  std::size_t set_of(std::uint64_t line) const {
    const std::uint64_t frame = frame_of(line);
    if (!has_halves_) return static_cast<std::size_t>((static_cast<UInt128>(mix(frame)) * sets_) >> 64);
    // Neighbours are at home in different halves. Of n sets in a half, each n pairs of neighbours from a multiple of n
    // on are in different ones, so that few sets are overfull.
    const std::uint64_t pair = frame / 2, half = sets_ / 2;
    const std::uint64_t home = (frame ^ mix(pair)) % 2;
    return static_cast<std::size_t>(home * half + (pair + mix(pair / half)) % half);
  }

  const Frames* frames_ = nullptr;
  std::size_t sets_;
  int ways_;
  bool reads_pairs_;  // DRAM delivers sectors in pairs
  bool has_halves_ = false;
  int lines_per_page_ = 1;
  std::vector<std::uint64_t> open_pages_;  // by bank of DRAM; empty: pages open without cost
  std::uint32_t fetch_ = 1;
  // Indexed by set and way. Kept in separate arrays, because most requests read only the first three.
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint16_t> ages_;  // number of lines in the set that were used more recently
  std::vector<std::uint8_t> states_;
  std::vector<std::uint32_t> fetched_by_;  // newest fetch that read a part of the line from DRAM
  std::vector<InstructionId> writers_;     // site of the newest store, to which the write-back is charged
  std::vector<Written> written_;           // bytes written to sectors that are dirty and not valid
  // Whether a set with lines of the chunk has been used since invalidate(): small launches use little of a large L2.
  static constexpr int kChunkShift = 8;
  std::vector<std::uint8_t> used_;
};

}  // namespace roofwalk::vgpu
