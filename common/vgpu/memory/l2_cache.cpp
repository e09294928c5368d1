#include "common/vgpu/memory/l2_cache.h"

#include <algorithm>
#include <bit>

#include "common/vgpu/memory/ways.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kWholeSector = ~0u;

// Adds the other sector of each pair to a mask of a line's four sectors.
unsigned with_partners(unsigned sectors) { return sectors | (sectors & 0b0101) << 1 | (sectors & 0b1010) >> 1; }

}  // namespace

L2Cache::L2Cache(std::int64_t size_bytes, int ways, int dram_access_bytes)
    : sets_(sets_of(size_bytes, ways)),
      ways_(ways),
      reads_pairs_(dram_access_bytes > kSectorBytes),
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
  const unsigned fetched = reads_pairs_ ? with_partners(missing) : missing;
  traffic[site].dram_read_sectors += std::popcount(fetched);
  fetched_by_[at] = fetch_;
  states_[at] = static_cast<std::uint8_t>(states_[at] | fetched);
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
