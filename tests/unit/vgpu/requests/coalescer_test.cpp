// Compares the lines and sectors that a request touches with a plain form of the rule.
#include "common/vgpu/requests/coalescer.h"
#include "common/vgpu/requests/l1_wavefronts.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace roofwalk::vgpu {
namespace {

struct Touched {
  std::uint64_t line = 0;
  unsigned sectors = 0;
  bool operator==(const Touched&) const = default;
};

// Returns the touched lines, in the order of the lanes that touch them first.
std::vector<Touched> by_rule(const std::uint64_t (&lanes)[kWarpSize], std::uint32_t mask) {
  std::vector<Touched> out;
  for (int l = 0; l < kWarpSize; ++l) {
    if ((mask >> l & 1u) == 0) continue;
    const std::uint64_t line = lanes[l] / kLineBytes;
    auto at = std::find_if(out.begin(), out.end(), [&](const Touched& t) { return t.line == line; });
    if (at == out.end()) at = out.insert(out.end(), {line, 0});
    at->sectors |= 1u << lanes[l] % kLineBytes / kSectorBytes;
  }
  return out;
}

TEST(Access, LinesAndSectorsAreThoseOfTheLanesInTheirOrder) {
  Rng rng(11);
  for (int round = 0; round < 4000; ++round) {
    const std::uint32_t bytes = 4u << rng.next() % 3,
                        mask = rng.next() % 2 == 0 ? kAllLanes : static_cast<std::uint32_t>(rng.next() | 1u << 5);
    const std::uint64_t base = 0x7000'0000 + rng.next() % 64 * bytes;
    const std::uint64_t spread = std::uint64_t{1} << rng.next() % 8;  // the range of lines
    std::uint64_t lanes[kWarpSize];
    for (int l = 0; l < kWarpSize; ++l) {
      const auto place = static_cast<std::uint64_t>(round % 3 == 0 ? l : kWarpSize - 1 - l);
      lanes[l] = base + (round % 3 == 2 ? rng.next() % (spread * kLineBytes / bytes) : place) * bytes;
    }
    Access access;
    make_access(lanes, mask, bytes, access);
    coalesce(access);
    access.spell_out_lines();
    const std::vector<Touched> wanted = by_rule(lanes, mask);
    std::vector<Touched> got;
    std::uint64_t sectors = 0;
    for (int i = 0; i < access.lines; ++i) {
      got.push_back({access.line[i], access.sectors[i]});
      sectors += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(access.sectors[i])));
    }
    ASSERT_EQ(got, wanted) << round;
    ASSERT_EQ(access.total_sectors, sectors) << round;
  }
}

// Wavefronts by the rule: in each half or quarter warp, the distinct words of the bank that has most.
std::uint64_t wavefronts_by_rule(const std::uint64_t (&lanes)[kWarpSize], std::uint32_t mask, std::uint32_t bytes) {
  const int together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  std::uint64_t sum = 0;
  for (int first = 0; first < kWarpSize; first += together) {
    std::map<std::uint64_t, std::set<std::uint64_t>> banks;
    for (int l = first; l < first + together; ++l) {
      for (std::uint64_t byte = 0; (mask >> l & 1u) != 0 && byte < bytes; ++byte) {
        banks[(lanes[l] + byte) / 4 % 32].insert((lanes[l] + byte) / 4);
      }
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : banks) most = std::max(most, words.size());
    sum += most;
  }
  return sum;
}

TEST(Access, WavefrontsAreThoseOfTheBusiestBank) {
  Rng rng(13);
  for (int round = 0; round < 6000; ++round) {
    const std::uint32_t bytes = 1u << rng.next() % 5,
                        mask = rng.next() % 2 == 0 ? kAllLanes : static_cast<std::uint32_t>(rng.next() | 1u << 5);
    const std::uint64_t base = 0x7000'0000 + rng.next() % 64 * bytes, stride = rng.next() % 40 * bytes;
    alignas(64) std::uint64_t registers[kWarpSize];
    for (std::uint64_t l = 0; l < kWarpSize; ++l) {
      registers[l] = base + (round % 2 == 0 ? l * stride : rng.next() % 512 * bytes);
    }
    Warp warp;
    warp.bases[0] = reinterpret_cast<std::uint8_t*>(registers);
    Access access;
    make_access(warp, mask, 0, 0, true, bytes, access);
    ASSERT_EQ(l1_wavefronts(access), wavefronts_by_rule(registers, mask, bytes)) << round << ' ' << bytes;
  }
}

// Measured on an H200, in clocks (tests/fidelity, h200_measured.csv): floats at strides of 1, 2, 4, 8, 16 and 32 take
// as many, doubles at 0, 1, 2, 4, 8 and 16 take 2, 2, 4, 8, 16 and 32.
TEST(Access, WavefrontsOfPowersOfTwoAreThoseMeasured) {
  const auto of = [](std::uint32_t bytes, std::uint64_t stride) {
    std::uint64_t lanes[kWarpSize];
    for (std::uint64_t l = 0; l < kWarpSize; ++l) lanes[l] = 0x7000'0000 + l * stride * bytes;
    Access access;
    make_access(lanes, kAllLanes, bytes, access);
    return l1_wavefronts(access);
  };
  for (const std::uint64_t stride : {1, 2, 4, 8, 16, 32}) EXPECT_EQ(of(4, stride), stride);
  EXPECT_EQ(of(4, 0), 1u);
  EXPECT_EQ(of(4, 33), 1u);
  EXPECT_EQ(of(8, 0), 2u);
  for (const std::uint64_t stride : {1, 2, 4, 8, 16}) EXPECT_EQ(of(8, stride), 2 * stride);
}

// Inactive lanes may hold any value as an address.
TEST(Access, ActiveLanesInEvenStepsKeepTheirPattern) {
  constexpr std::int64_t kStrides[] = {0, 4, -4, 8, 12, 36, 128, -256};
  Rng rng(12);
  alignas(64) std::uint64_t registers[kWarpSize];
  Warp warp;
  warp.bases[0] = reinterpret_cast<std::uint8_t*>(registers);
  for (int round = 0; round < 4000; ++round) {
    std::uint32_t mask = 0;
    while (mask == 0) mask = static_cast<std::uint32_t>(rng.next() & rng.next() & (round % 2 == 0 ? ~0u : rng.next()));
    const auto stride =
        static_cast<std::uint64_t>(kStrides[static_cast<std::size_t>(rng.next() % std::size(kStrides))]);
    const std::uint64_t first = 0x7000'0000 + rng.next() % 64 * 4, offset = rng.next() % 3 * 4;
    std::uint64_t wanted[kWarpSize];
    for (std::uint64_t l = 0; l < kWarpSize; ++l) {
      wanted[l] = first + l * stride + offset;
      const bool stale = (mask >> l & 1u) == 0 && round % 3 != 0;
      registers[l] = stale ? rng.next() : first + l * stride;
    }
    Access access;
    make_access(warp, mask, slot(Base::registers, 0), static_cast<std::int64_t>(offset), true, 4, access);
    const int from = std::countr_zero(mask), to = kWarpSize - 1 - std::countl_zero(mask);
    ASSERT_TRUE(access.implied || from == to) << round;
    ASSERT_EQ(access.low, std::min(wanted[from], wanted[to])) << round;
    ASSERT_EQ(access.high, std::max(wanted[from], wanted[to])) << round;
    ASSERT_EQ(access.uniform, access.low == access.high) << round;
    coalesce(access);
    access.spell_out_lines();
    std::vector<Touched> got;
    for (int i = 0; i < access.lines; ++i) got.push_back({access.line[i], access.sectors[i]});
    ASSERT_EQ(got, by_rule(wanted, mask)) << round;
    access.spell_out();
    for (int l = 0; l < kWarpSize; ++l) {
      const bool active = (mask >> l & 1u) != 0;
      ASSERT_EQ(access.address[l], wanted[active ? l : from]) << round;
    }
  }
}

}  // namespace
}  // namespace roofwalk::vgpu
