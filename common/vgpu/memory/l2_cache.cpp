#include "common/vgpu/memory/l2_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/check.h"
#include "common/vgpu/memory/ways.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kWholeSector = ~0u;

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
      written_(sets_ * ways),
      used_((tags_.size() >> kChunkShift) + 1, 1) {
  ROOFWALK_CHECK(sets_ * static_cast<std::size_t>(ways) <= kPlaces);
  invalidate();
}

L2Cache::L2Cache(const Machine& machine) : L2Cache(machine.l2_bytes, machine.l2_ways, machine.dram_access_bytes) {
  has_halves_ = machine.l2_far_latency_cycles != 0;
  if (machine.dram_page_opens_per_s == 0) return;
  lines_per_page_ = machine.dram_page_bytes / kLineBytes;
  open_pages_.assign(static_cast<std::size_t>(machine.dram_banks), kNoTag);
}

void L2Cache::invalidate() {
  std::fill(open_pages_.begin(), open_pages_.end(), kNoTag);
  visit_used([this](std::size_t begin, std::size_t end) {
    std::fill(tags_.data() + begin, tags_.data() + end, kNoTag);
    std::fill(states_.data() + begin, states_.data() + end, std::uint8_t{0});
    std::fill(fetched_by_.data() + begin, fetched_by_.data() + end, 0u);
    // Empty ways are filled in order, beginning with the first.
    int left = ways_ - static_cast<int>(begin % static_cast<std::size_t>(ways_));
    for (std::size_t i = begin; i < end; ++i) {
      ages_[i] = static_cast<std::uint16_t>(--left);
      if (left == 0) left = ways_;
    }
  });
  std::fill(used_.begin(), used_.end(), std::uint8_t{0});
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
  visit_used([&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) write_back(at, traffic);
  });
}

std::size_t L2Cache::find_or_allocate(std::uint64_t line, std::size_t first, std::vector<InstructionTraffic>& traffic) {
  int way = find_way(&tags_[first], ways_, line);
  if (way < 0) {
    way = find_last(&ages_[first], ways_);
    const std::size_t last = first + static_cast<std::size_t>(ways_) - 1;
    for (std::size_t chunk = first >> kChunkShift; chunk <= last >> kChunkShift; ++chunk) used_[chunk] = 1;
    const std::size_t victim = first + static_cast<std::size_t>(way);
    write_back(victim, traffic);
    tags_[victim] = line;
    states_[victim] = 0;
    fetched_by_[victim] = 0;
  }
  make_newest(&ages_[first], ways_, way);
  return first + static_cast<std::size_t>(way);
}

unsigned L2Cache::make_dirty(std::size_t at, unsigned sectors, unsigned valid, InstructionId site) {
  const unsigned state = states_[at];
  states_[at] = static_cast<std::uint8_t>(state | valid | sectors << kDirtyShift);
  writers_[at] = site;
  return sectors & ~(state >> kDirtyShift);
}

// What the copy lacks comes from the home.
L2Cache::Missed L2Cache::read_copy(Place place, unsigned sectors, InstructionId site,
                                   std::vector<InstructionTraffic>& traffic) {
  const std::size_t copy = find_or_allocate(place.line, place.copy, traffic);
  const unsigned missing = sectors & ~static_cast<unsigned>(states_[copy]);
  if (missing == 0) return {};
  const std::size_t home = find_or_allocate(place.line, place.first, traffic);
  Missed missed = read_at(home, missing, site, traffic);
  missed.is_far = true;
  states_[copy] = static_cast<std::uint8_t>(states_[copy] | missing);
  fetched_by_[copy] = fetched_by_[home];
  return missed;
}

void L2Cache::drop_copy(Place place) {
  if (!has_halves_) return;
  const int way = find_way(&tags_[place.copy], ways_, place.line);
  if (way >= 0) states_[place.copy + static_cast<std::size_t>(way)] = 0;
}

std::uint32_t L2Cache::fetch_of(Place place, unsigned sectors) const {
  if (place.is_far) {
    const int way = find_way(&tags_[place.copy], ways_, place.line);
    const std::size_t at = place.copy + static_cast<std::size_t>(way);
    if (way >= 0 && (sectors & ~static_cast<unsigned>(states_[at])) == 0) return fetched_by_[at];
  }
  const int way = find_way(&tags_[place.first], ways_, place.line);
  return way < 0 ? 0 : fetched_by_[place.first + static_cast<std::size_t>(way)];
}

bool L2Cache::opens_page(std::uint64_t line) {
  if (open_pages_.empty()) return false;
  const std::uint64_t page = frame_of(line) / static_cast<std::uint64_t>(lines_per_page_);
  std::uint64_t& open = open_pages_[mix(page) % open_pages_.size()];
  return std::exchange(open, page) != page;
}

unsigned L2Cache::write(Place place, unsigned sectors, InstructionId site, std::vector<InstructionTraffic>& traffic) {
  drop_copy(place);
  return make_dirty(find_or_allocate(place.line, place.first, traffic), sectors, sectors, site);
}

unsigned L2Cache::write(Place place, const std::uint32_t (&bytes)[4], InstructionId site,
                        std::vector<InstructionTraffic>& traffic) {
  drop_copy(place);
  const std::size_t at = find_or_allocate(place.line, place.first, traffic);
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
  drop_copy(place);
  const std::size_t at = find_or_allocate(place.line, place.first, traffic);
  Missed missed = read_at(at, sectors, site, traffic);
  missed.is_far = place.is_far;
  return {missed, make_dirty(at, sectors, 0, site)};
}

}  // namespace roofwalk::vgpu
