#include "common/vgpu/memory/cache.h"

#include <algorithm>
#include <bit>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "common/base/check.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kWholeSector = ~0u;
constexpr int kWayBits = 11;  // enough for 1,024 ways, the most that a machine file may have

std::size_t sets_of(std::int64_t size_bytes, int ways) {
  const std::int64_t sets = size_bytes / (std::int64_t{kLineBytes} * ways);
  ROOFWALK_CHECK(sets > 0 && ways <= 1 << kWayBits);
  return static_cast<std::size_t>(sets);
}

// The way of a line in a set; -1: absent. Branch-free, so that compilers vectorize it for the usual numbers of ways.
template <int known_ways = 0>
inline int way_of(const std::uint64_t* tags, int ways, std::uint64_t line) {
  std::uint64_t found = 0;
  for (int i = 0; i < (known_ways != 0 ? known_ways : ways); ++i) {
    found |= tags[i] == line ? static_cast<std::uint64_t>(i + 1) : 0;
  }
  return static_cast<int>(found) - 1;
}

// The way with the smallest stamp; the first of several. The stamp is in the bits from `shift` up.
template <int known_ways = 0>
inline int oldest_way(const std::uint64_t* used, int ways, int shift) {
  std::uint64_t oldest = ~0ull;
  for (int i = 0; i < (known_ways != 0 ? known_ways : ways); ++i) {
    oldest = std::min(oldest, used[i] >> shift << kWayBits | static_cast<std::uint64_t>(i));
  }
  return static_cast<int>(oldest & ((1u << kWayBits) - 1));
}

// The ages of the ways in a set run from 0 (newest) to ways - 1. last_way finds the oldest way, rejuvenate makes a
// way the newest.
template <int known_ways = 0>
inline int last_way(const std::uint16_t* ages, int ways) {
  const int count = known_ways != 0 ? known_ways : ways;
  std::uint16_t found = 0;
  for (int i = 0; i < count; ++i) found = static_cast<std::uint16_t>(found | (ages[i] == count - 1 ? i : 0));
  return found;
}
template <int known_ways = 0>
inline void rejuvenate(std::uint16_t* ages, int ways, int way) {
  const std::uint16_t own = ages[way];
  for (int i = 0; i < (known_ways != 0 ? known_ways : ways); ++i)
    ages[i] = static_cast<std::uint16_t>(ages[i] + (ages[i] < own ? 1 : 0));
  ages[way] = 0;
}

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
// For 16 ways: AVX-512 comparisons that return bit masks.
template <>
inline int way_of<16>(const std::uint64_t* tags, int, std::uint64_t line) {
  const __m512i wanted = _mm512_set1_epi64(static_cast<std::int64_t>(line));
  const unsigned low = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(tags), wanted);
  const unsigned high = _mm512_cmpeq_epi64_mask(_mm512_loadu_si512(tags + 8), wanted);
  const unsigned found = low | high << 8;
  return found != 0 ? std::countr_zero(found) : -1;
}
template <>
inline int last_way<16>(const std::uint16_t* ages, int) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ages));
  return std::countr_zero(static_cast<unsigned>(_mm256_cmpeq_epi16_mask(all, _mm256_set1_epi16(15))));
}
template <>
inline void rejuvenate<16>(std::uint16_t* ages, int, int way) {
  const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ages));
  const __mmask16 younger = _mm256_cmplt_epu16_mask(all, _mm256_set1_epi16(static_cast<short>(ages[way])));
  const __m256i older = _mm256_mask_add_epi16(all, younger, all, _mm256_set1_epi16(1));
  const auto own = static_cast<__mmask16>(1u << way);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(ages), _mm256_mask_mov_epi16(older, own, _mm256_setzero_si256()));
}
#endif

int find_way(const std::uint64_t* tags, int ways, std::uint64_t line) {
  return ways == 16 ? way_of<16>(tags, ways, line) : way_of(tags, ways, line);
}
int find_last(const std::uint16_t* ages, int ways) {
  return ways == 16 ? last_way<16>(ages, ways) : last_way(ages, ways);
}
void make_newest(std::uint16_t* ages, int ways, int way) {
  ways == 16 ? rejuvenate<16>(ages, ways, way) : rejuvenate(ages, ways, way);
}
int find_oldest(const std::uint64_t* used, int ways, int shift) {
  return ways == 16 ? oldest_way<16>(used, ways, shift) : oldest_way(used, ways, shift);
}

}  // namespace

L1Cache::L1Cache(std::int64_t size_bytes, int ways)
    : sets_(sets_of(size_bytes, ways)),
      ways_(ways),
      tags_(sets_ * ways),
      states_(sets_ * ways),
      fetched_by_(sets_ * ways),
      hints_(std::size_t{1} << kHintBits) {
  invalidate();
}

void L1Cache::invalidate() {
  std::fill(tags_.begin(), tags_.end(), ~0ull);
  std::fill(states_.begin(), states_.end(), std::uint64_t{0});
  std::fill(fetched_by_.begin(), fetched_by_.end(), 0u);
  std::fill(hints_.begin(), hints_.end(), 0u);
  clock_ = 0;
  group_ = {};
}

void L1Cache::read_group(const std::uint64_t (&lines)[kGroupLines], const std::uint8_t (&sectors)[kGroupLines],
                         std::uint8_t (&missing)[kGroupLines]) {
  forget_group();
  for (int i = 0; i < kGroupLines; ++i) {
    const std::uint32_t slot = locate(lines[i]);
    const std::uint64_t valid = states_[slot] & kFlags;
    states_[slot] = ++clock_ << kStampShift | valid | sectors[i];
    missing[i] = static_cast<std::uint8_t>(sectors[i] & ~valid);
    if (missing[i] != 0) fetched_by_[slot] = fetch_;
    group_.line[i] = lines[i];
    group_.slot[i] = slot;
  }
  // The group is unusable if its lines evicted each other.
  for (int i = 0; i < kGroupLines; ++i) {
    if (tags_[group_.slot[i]] != lines[i]) return;
  }
  group_.used = 1;
  group_.all_valid = 0xf;
  group_.step = lines[1] - lines[0];
  for (int i = 0; i < kGroupLines; ++i) {
    std::uint64_t& state = states_[group_.slot[i]];
    group_.valid[i] = static_cast<std::uint8_t>(state & kFlags);
    group_.all_valid &= group_.valid[i];
    state |= kInGroup;
    if (lines[i] != lines[0] + static_cast<std::uint64_t>(i) * group_.step) group_.step = 0;
  }
}

void L1Cache::forget_group() {
  if (group_.used == 0) return;
  settle_group();
  group_.used = 0;
  for (const std::uint32_t slot : group_.slot) states_[slot] &= ~kInGroup;
}

std::uint32_t L1Cache::find_or_allocate(std::uint64_t line) {
  const std::size_t first = set_of(line) * ways_;
  if (const int way = find_way(&tags_[first], ways_, line); way >= 0) {
    return static_cast<std::uint32_t>(first + static_cast<std::size_t>(way));
  }
  settle_group();
  const std::size_t victim = first + static_cast<std::size_t>(find_oldest(&states_[first], ways_, kStampShift));
  if ((states_[victim] & kInGroup) != 0) forget_group();
  tags_[victim] = line;
  states_[victim] = 0;
  return static_cast<std::uint32_t>(victim);
}

std::uint32_t L1Cache::fetch_of(std::uint64_t line) const {
  const std::uint32_t hint = hints_[hint_of(line)];
  if (tags_[hint] == line) return fetched_by_[hint];
  const std::size_t first = set_of(line) * ways_;
  const int way = find_way(&tags_[first], ways_, line);
  return way < 0 ? 0 : fetched_by_[first + static_cast<std::size_t>(way)];
}

void L1Cache::empty() {
  forget_group();
  for (std::uint64_t& state : states_) state = state >> kStampShift << kStampShift;
}

void L1Cache::drop(std::uint64_t line) {
  const std::size_t first = set_of(line) * ways_;
  for (std::size_t i = first; i < first + ways_; ++i) {
    if (tags_[i] != line) continue;
    if ((states_[i] & kInGroup) != 0) forget_group();
    states_[i] = states_[i] >> kStampShift << kStampShift;
  }
}

L2Cache::L2Cache(std::int64_t size_bytes, int ways)
    : sets_(sets_of(size_bytes, ways)),
      ways_(ways),
      tags_(sets_ * ways),
      ages_(sets_ * ways),
      states_(sets_ * ways),
      fetched_by_(sets_ * ways),
      writers_(sets_ * ways),
      written_(sets_ * ways) {
  invalidate();
}

void L2Cache::invalidate() {
  std::fill(tags_.begin(), tags_.end(), kNoTag);
  std::fill(states_.begin(), states_.end(), std::uint8_t{0});
  std::fill(fetched_by_.begin(), fetched_by_.end(), 0u);
  // Empty ways are filled in order, beginning with the first.
  for (std::size_t i = 0; i < ages_.size(); ++i) {
    ages_[i] = static_cast<std::uint16_t>(ways_ - 1 - static_cast<int>(i % static_cast<std::size_t>(ways_)));
  }
}

void L2Cache::write_back(std::size_t at, std::vector<InstructionTraffic>& traffic) {
  const unsigned dirty = states_[at] >> kDirtyShift, valid = states_[at] & kValid;
  if (dirty == 0) return;
  InstructionTraffic& site = traffic[writers_[at]];
  site.dram_write_sectors += std::popcount(dirty);
  site.dram_read_sectors += std::popcount(dirty & ~valid);  // fill reads of partly written sectors
  states_[at] = static_cast<std::uint8_t>(valid | dirty);
}

void L2Cache::write_back_all(std::vector<InstructionTraffic>& traffic) {
  for (std::size_t at = 0; at < states_.size(); ++at) write_back(at, traffic);
}

std::size_t L2Cache::find_or_allocate(Place place, std::vector<InstructionTraffic>& traffic) {
  const std::size_t first = place.first;
  int way = find_way(&tags_[first], ways_, place.line);
  if (way < 0) {
    way = find_last(&ages_[first], ways_);
    const std::size_t victim = first + static_cast<std::size_t>(way);
    write_back(victim, traffic);
    tags_[victim] = place.line;
    states_[victim] = 0;
    fetched_by_[victim] = 0;
  }
  make_newest(&ages_[first], ways_, way);
  return first + static_cast<std::size_t>(way);
}

unsigned L2Cache::read_at(std::size_t at, unsigned sectors, InstructionId site,
                          std::vector<InstructionTraffic>& traffic) {
  const unsigned missing = sectors & ~static_cast<unsigned>(states_[at]);
  if (missing == 0) return 0;
  traffic[site].dram_read_sectors += std::popcount(missing);
  fetched_by_[at] = fetch_;
  states_[at] = static_cast<std::uint8_t>(states_[at] | sectors);
  return missing;
}

unsigned L2Cache::make_dirty(std::size_t at, unsigned sectors, unsigned valid, InstructionId site) {
  const unsigned state = states_[at];
  states_[at] = static_cast<std::uint8_t>(state | valid | sectors << kDirtyShift);
  writers_[at] = site;
  return sectors & ~(state >> kDirtyShift);
}

unsigned L2Cache::read(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic) {
  return read_at(find_or_allocate(place, traffic), sectors, site, traffic);
}

std::uint32_t L2Cache::fetch_of(Place place) const {
  const int way = find_way(&tags_[place.first], ways_, place.line);
  return way < 0 ? 0 : fetched_by_[place.first + static_cast<std::size_t>(way)];
}

unsigned L2Cache::write(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic) {
  return make_dirty(find_or_allocate(place, traffic), sectors, sectors, site);
}

unsigned L2Cache::write(Place place, const std::uint32_t (&bytes)[4], InstructionId site,
                        std::vector<InstructionTraffic>& traffic) {
  const std::size_t at = find_or_allocate(place, traffic);
  unsigned sectors = 0, whole = 0;
  for (unsigned sector = 0; sector < 4; ++sector) {
    if (bytes[sector] == 0) continue;
    const unsigned bit = 1u << sector;
    sectors |= bit;
    if ((states_[at] & bit) != 0) continue;
    const bool partly = (states_[at] & bit << kDirtyShift) != 0;
    std::uint32_t& written = written_[at].of_sector[sector];
    written = partly ? written | bytes[sector] : bytes[sector];
    if (written == kWholeSector) whole |= bit;
  }
  return make_dirty(at, sectors, whole, site);
}

L2Cache::Updated L2Cache::update(Place place, unsigned sectors, InstructionId site,
                                 std::vector<InstructionTraffic>& traffic) {
  const std::size_t at = find_or_allocate(place, traffic);
  const unsigned missed = read_at(at, sectors, site, traffic);
  return {missed, make_dirty(at, sectors, 0, site)};
}

}  // namespace roofwalk::vgpu
