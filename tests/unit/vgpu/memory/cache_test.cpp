// Tests the rules in sectors.h one by one, against results by hand.
#include "common/vgpu/memory/l1_cache.h"
#include "common/vgpu/memory/l2_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <list>

#include "common/base/rng.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kNothing[4] = {0, 0, 0, 0};
constexpr std::uint32_t kWhole = ~0u;

TEST(L1, HitsOnlyTheSectorsThatItRead) {
  L1Cache cache(4 * kLineBytes, 4);
  cache.open();
  EXPECT_EQ(cache.read(7, 0b0001), 0b0001u);
  EXPECT_EQ(cache.read(7, 0b0011), 0b0010u);
  EXPECT_EQ(cache.read(7, 0b0011), 0u);
}

TEST(L1, EvictsTheLeastRecentlyUsedLine) {
  L1Cache cache(2 * kLineBytes, 2);  // one set of two lines
  cache.open();
  cache.read(1, 1);
  cache.read(2, 1);
  cache.read(1, 1);
  cache.read(3, 1);  // evicts 2
  EXPECT_EQ(cache.read(1, 1), 0u);
  EXPECT_EQ(cache.read(2, 1), 1u);
}

TEST(L1, DroppedLineIsReadAgain) {
  L1Cache cache(2 * kLineBytes, 2);
  cache.open();
  cache.read(1, 0xf);
  cache.drop(1);
  EXPECT_EQ(cache.read(1, 0xf), 0xfu);
}

TEST(L1, PowerOfTwoStridesSpreadOverTheSets) {
  // 256 lines, a power-of-two stride apart, fit a cache of 512 lines only if the set index hashes the address.
  for (const std::uint64_t stride : {1, 16, 64, 1024, 4096}) {
    L1Cache cache(64 * 1024, 16);
    cache.open();
    int missed = 0;
    for (std::uint64_t i = 0; i < 256; ++i) cache.read(i * stride, 1);
    for (std::uint64_t i = 0; i < 256; ++i) missed += cache.read(i * stride, 1) != 0;
    EXPECT_LE(missed, 26) << stride;
  }
}

TEST(L1, AskingWhoFetchedALineChangesNothing) {
  L1Cache cache(2 * kLineBytes, 2);
  cache.open();
  cache.read(1, 1);
  cache.end_fetch();
  cache.read(2, 1);
  EXPECT_EQ(cache.fetch_of(1), 1u);
  EXPECT_EQ(cache.fetch_of(2), 2u);
  EXPECT_EQ(cache.fetch_of(3), 0u);
  EXPECT_EQ(cache.read(1, 1), 0u);
  EXPECT_EQ(cache.read(2, 1), 0u);
}

TEST(L1, GroupsAreReadAsTheirLinesWouldBe) {
  // Compares random requests, some of 32 lines at equal or different distances, with a cache that reads line by line.
  Rng rng(7);
  L1Cache cache(64 * kLineBytes, 4), plain(64 * kLineBytes, 4);
  cache.open(), plain.open();
  std::uint64_t lines[L1Cache::kGroupLines] = {};
  std::uint8_t sectors[L1Cache::kGroupLines] = {};
  std::uint64_t step = 1;
  int again = 0;
  for (int request = 0; request < 20000; ++request) {
    const std::uint64_t kind = rng.next() % 16;
    if (kind < 4) {
      const std::uint64_t line = rng.next() % 96;
      const auto mask = static_cast<unsigned>(rng.next() % 15 + 1);
      EXPECT_EQ(cache.read(line, mask), plain.read(line, mask));
      continue;
    }
    if (kind == 4) {
      const std::uint64_t line = rng.next() % 96;
      cache.drop(line);
      plain.drop(line);
      continue;
    }
    if (kind == 5 || request == 0) {
      step = rng.next() % 3 + 1;
      lines[0] = rng.next() % 8;
      for (int i = 1; i < L1Cache::kGroupLines; ++i) lines[i] = lines[i - 1] + step;
      if (rng.next() % 2 == 0) std::swap(lines[3], lines[9]), step = 0;
    }
    const bool equal = step != 0 && kind % 2 == 0;
    for (std::uint8_t& mask : sectors)
      mask = static_cast<std::uint8_t>(equal ? 1u << request / 64 % 4 : rng.next() % 2 + 1);
    std::uint8_t missing[L1Cache::kGroupLines] = {};
    if (equal ? cache.read_again(lines[0], step, sectors[0]) : cache.read_again(lines, sectors)) {
      ++again;
    } else {
      cache.read_group(lines, sectors, missing);
    }
    for (int i = 0; i < L1Cache::kGroupLines; ++i) EXPECT_EQ(missing[i], plain.read(lines[i], sectors[i]));
  }
  EXPECT_GT(again, 1000);
}

TEST(L2, WholeSectorStoresAreWrittenOnceAndFillNothing) {
  L2Cache cache(4 * kLineBytes, 4);
  std::vector<InstructionTraffic> traffic(2);
  const std::uint32_t bytes[4] = {kWhole, kWhole, 0, 0};
  EXPECT_EQ(cache.write(cache.place_of(5), bytes, 1, traffic), 0b11u);
  EXPECT_EQ(cache.write(cache.place_of(5), bytes, 1, traffic), 0u);
  cache.write_back_all(traffic);
  cache.write_back_all(traffic);
  EXPECT_EQ(traffic[1].dram_write_sectors, 2u);
  EXPECT_EQ(traffic[1].dram_read_sectors, 0u);
}

TEST(L2, PartsOfASectorThatAddUpFillNothing) {
  L2Cache cache(4 * kLineBytes, 4);
  std::vector<InstructionTraffic> traffic(1);
  cache.write(cache.place_of(5), {0x0000'ffffu, 0, 0, 0}, 0, traffic);
  cache.write(cache.place_of(5), {0xffff'0000u, 0, 0, 0}, 0, traffic);
  cache.write_back_all(traffic);
  EXPECT_EQ(traffic[0].dram_read_sectors, 0u);
  EXPECT_EQ(traffic[0].dram_write_sectors, 1u);
}

TEST(L2, PartlyWrittenSectorCostsOneFill) {
  L2Cache cache(4 * kLineBytes, 4);
  std::vector<InstructionTraffic> traffic(2);
  cache.write(cache.place_of(5), {0xfu, 0, 0, 0}, 0, traffic);
  cache.write_back_all(traffic);  // filled on eviction
  EXPECT_EQ(traffic[0].dram_read_sectors, 1u);
  cache.write(cache.place_of(6), {0xfu, 0, 0, 0}, 0, traffic);
  EXPECT_EQ(cache.read(cache.place_of(6), 1, 1, traffic).asked, 1u);  // or on the first read
  EXPECT_EQ(cache.read(cache.place_of(6), 1, 1, traffic).asked, 0u);
  cache.write_back_all(traffic);
  EXPECT_EQ(traffic[0].dram_read_sectors, 1u);
  EXPECT_EQ(traffic[1].dram_read_sectors, 1u);
  EXPECT_EQ(traffic[0].dram_write_sectors, 2u);
}

// A partner that is read along fills a partly written sector, and is held from then on.
TEST(L2, ReadsPairsOfSectorsWhereDramDeliversThem) {
  L2Cache cache(4 * kLineBytes, 4, 64);
  std::vector<InstructionTraffic> traffic(1);
  EXPECT_EQ(cache.read(cache.place_of(5), 0b0010, 0, traffic).asked, 0b0010u);
  EXPECT_EQ(traffic[0].dram_read_sectors, 2u);
  EXPECT_EQ(cache.read(cache.place_of(5), 0b0011, 0, traffic).asked, 0u);
  EXPECT_EQ(cache.read(cache.place_of(5), 0b1100, 0, traffic).asked, 0b1100u);
  EXPECT_EQ(traffic[0].dram_read_sectors, 4u);
  cache.write(cache.place_of(6), {0xfu, 0, 0, 0}, 0, traffic);
  cache.read(cache.place_of(6), 0b0010, 0, traffic);
  EXPECT_EQ(traffic[0].dram_read_sectors, 6u);
  cache.write_back_all(traffic);
  EXPECT_EQ(traffic[0].dram_read_sectors, 6u);
  EXPECT_EQ(traffic[0].dram_write_sectors, 1u);
}

TEST(L2, TheStoreThatDirtiedALinePaysForItsEviction) {
  L2Cache cache(kLineBytes, 1);
  std::vector<InstructionTraffic> traffic(3);
  cache.write(cache.place_of(1), {kWhole, 0, 0, 0}, 2, traffic);
  cache.read(cache.place_of(9), 1, 0, traffic);
  EXPECT_EQ(traffic[2].dram_write_sectors, 1u);
  EXPECT_EQ(traffic[0].dram_read_sectors, 1u);
  EXPECT_EQ(cache.read(cache.place_of(1), 1, 0, traffic).asked, 1u);
}

TEST(L2, AtomicsReadOnceAndLeaveDirtySectors) {
  L2Cache cache(4 * kLineBytes, 4);
  std::vector<InstructionTraffic> traffic(1);
  const L2Cache::Updated first = cache.update(cache.place_of(3), 0b11, 0, traffic),
                         second = cache.update(cache.place_of(3), 0b11, 0, traffic);
  EXPECT_EQ(first.missed.asked, 0b11u);
  EXPECT_EQ(first.dirtied, 0b11u);
  EXPECT_EQ(second.missed.asked, 0u);
  EXPECT_EQ(second.dirtied, 0u);
  cache.write_back_all(traffic);
  EXPECT_EQ(traffic[0].dram_read_sectors, 2u);
  EXPECT_EQ(traffic[0].dram_write_sectors, 2u);
}

// Only the parts of L2 that were used are written back and made empty. Sets of 12 ways lie across their borders.
TEST(L2, InvalidateForgetsAllThatWasUsed) {
  constexpr std::uint64_t kWays = 12, kSets = 200, kLines = kWays * kSets;
  const auto missed = [](L2Cache& cache, std::uint64_t first) {
    std::vector<InstructionTraffic> traffic(1);
    std::vector<bool> misses;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::uint64_t line = first; line < first + kLines; ++line)
        misses.push_back(cache.read(cache.place_of(line), 0xf, 0, traffic).asked != 0);
    }
    return misses;
  };
  L2Cache used(kLines * kLineBytes, kWays), fresh(kLines * kLineBytes, kWays);
  std::vector<InstructionTraffic> traffic(1);
  for (std::uint64_t line = 0; line < 2 * kLines; ++line) used.write(used.place_of(line), 0xf, 0, traffic);
  used.write_back_all(traffic);
  EXPECT_EQ(traffic[0].dram_write_sectors, 4 * 2 * kLines);
  used.invalidate();
  EXPECT_EQ(missed(used, kLines), missed(fresh, kLines)) << "lines find the same places, and nothing of before";
}

TEST(L2, InvalidateForgetsDirtyLinesToo) {
  L2Cache cache(4 * kLineBytes, 4);
  std::vector<InstructionTraffic> traffic(1);
  cache.write(cache.place_of(3), {kWhole, kWhole, kWhole, kWhole}, 0, traffic);
  cache.invalidate();
  cache.write(cache.place_of(3), kNothing, 0, traffic);
  cache.write_back_all(traffic);
  EXPECT_EQ(traffic[0].dram_write_sectors, 0u);
}

// Follows the rules of L2 in the plainest form: one set, newest line first, one byte at a time.
class PlainL2 {
 public:
  explicit PlainL2(std::size_t ways) : ways_(ways) {}

  unsigned read(std::uint64_t line, unsigned sectors) {
    Line& entry = find(line);
    unsigned missing = 0;
    for (int s = 0; s < 4; ++s) {
      if ((sectors >> s & 1u) == 0 || entry.valid[s]) continue;
      missing |= 1u << s;
      entry.valid[s] = true;
    }
    traffic.dram_read_sectors += static_cast<unsigned>(std::popcount(missing));
    return missing;
  }
  unsigned write(std::uint64_t line, const std::uint32_t (&bytes)[4]) {
    Line& entry = find(line);
    unsigned dirtied = 0;
    for (int s = 0; s < 4; ++s) {
      if (bytes[s] == 0) continue;
      if (!entry.dirty[s]) dirtied |= 1u << s;
      entry.dirty[s] = true;
      entry.written[s] |= bytes[s];
      if (entry.written[s] == kWhole) entry.valid[s] = true;
    }
    return dirtied;
  }
  void write_back_all() {
    for (Line& line : lines_) write_back(line);
  }

  InstructionTraffic traffic;

 private:
  struct Line {
    std::uint64_t line = 0;
    bool valid[4] = {}, dirty[4] = {};
    std::uint32_t written[4] = {};
  };
  void write_back(Line& line) {
    for (int s = 0; s < 4; ++s) {
      if (!line.dirty[s]) continue;
      ++traffic.dram_write_sectors;
      if (!line.valid[s]) ++traffic.dram_read_sectors;
      line.valid[s] = true;
      line.dirty[s] = false;
      line.written[s] = 0;
    }
  }
  Line& find(std::uint64_t line) {
    auto at = std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) { return l.line == line; });
    if (at == lines_.end()) {
      if (lines_.size() == ways_) {
        write_back(lines_.back());
        lines_.pop_back();
      }
      lines_.emplace_front().line = line;
    } else {
      lines_.splice(lines_.begin(), lines_, at);
    }
    return lines_.front();
  }

  std::size_t ways_;
  std::list<Line> lines_;
};

TEST(L2, AnswersAsThePlainRulesDo) {
  for (const int ways : {1, 3, 16, 40}) {
    L2Cache cache(ways * kLineBytes, ways);
    PlainL2 plain(static_cast<std::size_t>(ways));
    std::vector<InstructionTraffic> traffic(1);
    Rng rng(static_cast<std::uint64_t>(ways));
    const auto below = [&](std::uint64_t n) { return rng.next() % n; };
    for (int step = 0; step < 20'000; ++step) {
      const std::uint64_t line = below(static_cast<std::uint64_t>(ways) * 3 / 2 + 1);
      const auto sectors = static_cast<unsigned>(1 + below(15));
      std::uint32_t whole[4], bytes[4];
      for (unsigned s = 0; s < 4; ++s) {
        whole[s] = (sectors >> s & 1u) != 0 ? kWhole : 0;
        const std::uint32_t part = below(2) == 0 ? 0xffff'0000u : 0x0000'ffffu;
        bytes[s] = whole[s] & (below(4) == 0 ? kWhole : part);
      }
      switch (below(8)) {
        case 0:
          ASSERT_EQ(cache.write(cache.place_of(line), sectors, 0, traffic), plain.write(line, whole))
              << ways << ' ' << step;
          break;
        case 1:
        case 2:
          ASSERT_EQ(cache.write(cache.place_of(line), bytes, 0, traffic), plain.write(line, bytes))
              << ways << ' ' << step;
          break;
        case 3: {
          const L2Cache::Updated updated = cache.update(cache.place_of(line), sectors, 0, traffic);
          ASSERT_EQ(updated.missed.asked, plain.read(line, sectors)) << ways << ' ' << step;
          ASSERT_EQ(updated.dirtied, plain.write(line, whole)) << ways << ' ' << step;
          break;
        }
        default:
          ASSERT_EQ(cache.read(cache.place_of(line), sectors, 0, traffic).asked, plain.read(line, sectors))
              << ways << ' ' << step;
      }
      if (below(512) == 0) {
        cache.write_back_all(traffic);
        plain.write_back_all();
      }
      ASSERT_EQ(traffic[0].dram_read_sectors, plain.traffic.dram_read_sectors) << ways << ' ' << step;
      ASSERT_EQ(traffic[0].dram_write_sectors, plain.traffic.dram_write_sectors) << ways << ' ' << step;
    }
  }
}

// An L2 with two halves of `half_lines` lines.
Machine with_halves(int half_lines) {
  Machine machine;
  machine.l2_bytes = 2 * half_lines * kLineBytes;
  machine.l2_ways = 4;
  machine.l2_far_latency_cycles = 400;
  return machine;
}

TEST(L2Halves, AnSmOfTheOtherHalfReadsFarOnce) {
  L2Cache cache(with_halves(64));
  std::vector<InstructionTraffic> traffic(1);
  for (std::uint64_t line = 0; line < 20; ++line) {
    const std::size_t near = cache.place_of(line, 0).is_far ? 1 : 0, far = 1 - near;
    const auto read = [&](std::size_t sm) { return cache.read(cache.place_of(line, sm), 0b0110, 0, traffic); };
    EXPECT_EQ(read(far).fetched, 0b0110u);  // DRAM fills the home and the copy
    EXPECT_FALSE(read(near).is_far);
    EXPECT_FALSE(read(far).is_far);
    const auto more = cache.read(cache.place_of(line, near), 0b1000, 0, traffic);
    EXPECT_EQ(more.fetched, 0b1000u);
    const auto copied = cache.read(cache.place_of(line, far), 0b1110, 0, traffic);
    EXPECT_TRUE(copied.is_far);
    EXPECT_EQ(copied.asked, 0u);
    EXPECT_FALSE(cache.read(cache.place_of(line, far), 0b1110, 0, traffic).is_far);
  }
  EXPECT_EQ(traffic[0].dram_read_sectors, 20u * 3);
}

TEST(L2Halves, WritesAndAtomicsDropTheCopy) {
  L2Cache cache(with_halves(64));
  std::vector<InstructionTraffic> traffic(1);
  const std::uint64_t line = 7;
  const std::size_t far = cache.place_of(line, 0).is_far ? 0 : 1;
  const auto is_far = [&] { return cache.read(cache.place_of(line, far), 0b1, 0, traffic).is_far; };
  is_far();
  EXPECT_FALSE(is_far());
  cache.write(cache.place_of(line, far), 0b1, 0, traffic);
  EXPECT_TRUE(is_far());
  EXPECT_FALSE(is_far());
  EXPECT_TRUE(cache.update(cache.place_of(line, far), 0b1, 0, traffic).missed.is_far);
  EXPECT_FALSE(cache.update(cache.place_of(line, 1 - far), 0b1, 0, traffic).missed.is_far);
  EXPECT_TRUE(is_far());
  cache.write_back_all(traffic);
  EXPECT_EQ(traffic[0].dram_read_sectors, 1u);
  EXPECT_EQ(traffic[0].dram_write_sectors, 1u);
}

// Whatever SMs of both halves read, half of L2 is kept; nearly, if it does not begin with a stretch of sets. Of twice
// as much, a cyclic walk finds nothing.
TEST(L2Halves, BothKeepAsMuchAsAHalfHolds) {
  constexpr std::uint64_t kSets = 37, kHalf = 4 * kSets, kAligned = 1000 * kHalf;
  L2Cache cache(with_halves(kHalf));
  std::vector<InstructionTraffic> traffic(1);
  const auto missed_again = [&](std::uint64_t first, std::uint64_t lines) {
    cache.invalidate();
    std::uint64_t missed = 0;
    for (int pass = 0; pass < 3; ++pass) {
      missed = 0;
      for (std::uint64_t line = first; line < first + lines; ++line) {
        for (const std::size_t sm : {0u, 1u})
          missed += cache.read(cache.place_of(line, sm), 0xf, 0, traffic).asked != 0;
      }
    }
    return missed;
  };
  EXPECT_EQ(missed_again(kAligned, kHalf), 0u);
  EXPECT_GT(missed_again(kAligned + 2, kHalf), 0u);
  EXPECT_LE(missed_again(kAligned + kSets, 3 * kHalf / 4), kHalf / 4);
  EXPECT_EQ(missed_again(kAligned, 2 * kHalf), 2 * kHalf);
}

// A load of sectors that the copy lacks is served by the home, like an atomic.
TEST(L2Halves, AFetchIsThatOfTheHalfThatServes) {
  L2Cache cache(with_halves(64));
  std::vector<InstructionTraffic> traffic(1);
  const std::uint64_t line = 7;
  const std::size_t far = cache.place_of(line, 0).is_far ? 0 : 1;
  cache.read(cache.place_of(line, far), 0b0001, 0, traffic);
  const std::uint32_t first = cache.fetch();
  cache.end_fetch();
  cache.read(cache.place_of(line, 1 - far), 0b0010, 0, traffic);
  EXPECT_EQ(cache.fetch_of(cache.place_of(line, far), 0b0001), first);
  EXPECT_EQ(cache.fetch_of(cache.place_of(line, far), 0b0011), first + 1);
  EXPECT_EQ(cache.fetch_of(cache.place_of(line, far), L2Cache::kAtHome), first + 1);
}

TEST(L2Pages, OpenWhenTheirBankHasAnotherOne) {
  Machine machine = with_halves(64);
  machine.dram_page_bytes = 4 * kLineBytes;
  machine.dram_banks = 1;
  L2Cache cache(machine);
  EXPECT_FALSE(cache.opens_page(5)) << "as many as needed";
  machine.dram_page_opens_per_s = 1e9;
  cache = L2Cache(machine);
  const std::uint64_t lines[] = {4, 5, 7, 8, 4, 4};
  const bool opens[] = {true, false, false, true, true, false};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(cache.opens_page(lines[i]), opens[i]) << i;
  cache.invalidate();
  EXPECT_TRUE(cache.opens_page(4));
}

}  // namespace
}  // namespace roofwalk::vgpu
