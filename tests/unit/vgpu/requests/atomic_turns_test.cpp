#include "common/vgpu/requests/atomic_turns.h"

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace roofwalk::vgpu {
namespace {

TEST(AtomicTurns, WordsAreThoseOfTheActiveLanesInOrder) {
  Rng rng(5);
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t bytes = round % 2 == 0 ? 4 : 8, mask = static_cast<std::uint32_t>(rng.next() | 1u << 9);
    // From a few words that lanes share to words so far apart that their distance takes more than 32 bits.
    const std::uint64_t range = std::uint64_t{1} << (2 + round % 38);
    std::uint64_t lanes[kWarpSize];
    std::vector<std::uint64_t> wanted;
    for (int l = 0; l < kWarpSize; ++l) {
      lanes[l] = 0x7000'0000'0000 + rng.next() % range * bytes;
      if ((mask >> l & 1u) != 0) wanted.push_back(lanes[l] / bytes);
    }
    std::sort(wanted.begin(), wanted.end());
    Access access;
    make_access(lanes, mask, bytes, access);
    const Words words = words_of(access);
    ASSERT_EQ(std::vector<std::uint64_t>(words.of, words.of + words.count), wanted) << round;
  }
}

TEST(AtomicTurns, NeighbouringSectorsHavePlacesOfTheirOwn) {
  for (const std::uint64_t stretch : {0ull, 7ull, 0x1c0'0000ull}) {
    std::set<std::size_t> places;
    for (std::uint64_t s = 0; s < kSectorPlaces; ++s) places.insert(place_of_sector(stretch * kSectorPlaces + s));
    EXPECT_EQ(places.size(), kSectorPlaces);
    EXPECT_LT(*places.rbegin(), kSectorPlaces);
  }
  EXPECT_NE(place_of_sector(0), place_of_sector(kSectorPlaces)) << "buffers a stretch apart";
}

}  // namespace
}  // namespace roofwalk::vgpu
