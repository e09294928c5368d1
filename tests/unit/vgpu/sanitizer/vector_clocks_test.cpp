// Tests what orders lanes of one warp before another warp, and what the sanitizer's vector clocks cost in time and
// memory.
#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <numeric>

#include "common/base/mix.h"
#include "common/vgpu/sanitizer/race_detector.h"
#include "common/vgpu/state/work.h"
#include "tests/unit/vgpu/exec/grid_runner.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::uint32_t kOdd = 0xaaaaaaaa;

// Runs two warps of four tiles, eight lanes each, and returns the fault. Each lane of warp 0 stores a word, then
// executes `meets` and then `tells`, which raises its tile's counter (in shared memory, from byte 128 on). In warp 1,
// the leader of each tile waits until the tile with the same number in warp 0 has raised its counter. Then the leader's
// tile synchronizes, and each lane loads a word that another lane of that tile of warp 0 has stored.
std::optional<Fault> fault_of_tiles(const std::string& meets, const std::string& tells) {
  test::Kernel kernel{
      "and.b32 %r3, %r1, 31;\nand.b32 %r5, %r3, 7;\nand.b32 %r6, %r3, 24;\nmov.u32 %r7, 255;\nshl.b32 %r7, %r7, "
      "%r6;\nshr.u32 %r8, %r6, 1;\nadd.u32 %r8, %r11, %r8;\nshl.b32 %r9, %r1, 2;\nadd.u32 %r9, %r11, %r9;\n"
      "mov.u32 %r10, 0;\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 st.shared.u32 [%r9+128], %r10;\nbar.sync 0;\n"
      "setp.ge.u32 %p2, %r1, 32;\nsetp.ne.u32 %p3, %r5, 0;\nsetp.ne.u32 %p5, %r3, 0;\n@%p2 bra LATER;\n"
      "st.shared.u32 [%r9], %r1;\n" +
      meets + tells +
      "bra DONE;\nLATER:\n@%p3 bra TOGETHER;\nPOLL:\natom.shared.add.u32 %r12, [%r8+128], 0;\nsetp.eq.u32 %p4, %r12, "
      "0;\n@%p4 bra POLL;\nmembar.cta;\nTOGETHER:\nbar.warp.sync %r7;\nxor.b32 %r13, %r3, 7;\nshl.b32 %r13, %r13, 2;\n"
      "add.u32 %r13, %r13, %r11;\nld.shared.u32 %r14, [%r13];\nDONE:\n"};
  kernel.block = {64, 1, 1};
  kernel.sanitized = true;
  return test::run(kernel).fault;
}

const std::string kMeets = "bar.warp.sync %r7;\n";
const std::string kLeaderTells = "@%p3 bra DONE;\nmembar.cta;\natom.shared.add.u32 %r12, [%r8+128], 1;\n";

TEST(VectorClocks, ALeaderPublishesWhatItsTileDidBeforeItMet) {
  const auto fault = fault_of_tiles(kMeets, kLeaderTells);
  EXPECT_FALSE(fault.has_value()) << fault->message;
}

TEST(VectorClocks, ALeaderPublishesNothingOfATileThatHasNotMet) {
  const auto fault = fault_of_tiles("", kLeaderTells);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::race) << fault->message;
}

TEST(VectorClocks, ALeaderPublishesNothingOfOtherTiles) {
  std::string tells = "@%p5 bra DONE;\nmembar.cta;\n";
  for (const char* counter : {"128", "132", "136", "140"})
    tells += std::string("atom.shared.add.u32 %r12, [%r11+") + counter + "], 1;\n";
  const auto fault = fault_of_tiles(kMeets, tells);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::race) << fault->message;
}

// The leader's tile synchronizes after the leader's fence, so the fence does not cover what the leader learns from its
// tile then.
TEST(VectorClocks, ALeaderPublishesNothingThatItLearnsBehindItsFence) {
  const auto fault = fault_of_tiles("", "@%p3 bra MEET;\nmembar.cta;\nMEET:\n" + kMeets +
                                            "@%p3 bra DONE;\natom.shared.add.u32 %r12, [%r8+128], 1;\n");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::race) << fault->message;
}

Access row_at(std::uint64_t first, std::uint32_t bytes) {
  std::uint64_t lanes[kWarpSize];
  for (std::size_t l = 0; l < kWarpSize; ++l) lanes[l] = first + bytes * l;
  Access out;
  make_access(lanes, kAllLanes, bytes, out);
  out.spell_out();
  return out;
}

constexpr std::uint32_t kFullBlock = 32, kBytes = 64000;

// Returns the detector of a block in which the odd lanes of each warp have fenced without the others.
RaceDetector fenced_apart(std::uint32_t word_bytes) {
  RaceDetector shadow(kBytes, word_bytes, kFullBlock);
  std::vector<std::uint32_t> all(kFullBlock);
  std::iota(all.begin(), all.end(), 0u);
  for (std::uint32_t warp = 0; warp < kFullBlock; ++warp) {
    for (std::uint64_t first = 128ull * warp; first < kBytes; first += 128ull * kFullBlock)
      EXPECT_FALSE(shadow.touch(warp, 1, row_at(first, 4), SharedTouch::write));
    shadow.come_to_barrier(0, warp);
  }
  shadow.leave_barrier(0, all, {});
  for (std::uint32_t warp = 0; warp < kFullBlock; ++warp) shadow.fence(warp, kOdd, kAllLanes);
  shadow.take_work();
  return shadow;
}

std::size_t heap_bytes() {
  const auto heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

double processor_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The limits of tests/bench/budget_bench.cpp.
constexpr double kMostNsPerUnit = 100;

TEST(VectorClocks, AtomicsBehindFencesOfSomeLanesCostWhatIsCharged) {
  RaceDetector shadow = fenced_apart(4);
  const double began_s = processor_s();
  std::uint64_t work = 0;
  for (std::uint32_t round = 0; round < 40; ++round) {
    for (std::uint32_t warp = 0; warp < kFullBlock; ++warp) {
      const Access access = row_at(128ull * ((warp + 33ull * round) % (kBytes / 128)), 4);
      ASSERT_FALSE(shadow.touch(warp, 2, access, SharedTouch::atomic));
      shadow.see(warp, access, kAllLanes);
      work += kWarpSize * work::kCheckedLane + shadow.take_work();
    }
  }
  const double ns_per_unit = 1e9 * (processor_s() - began_s) / static_cast<double>(work);
  RecordProperty("ns_per_unit", std::to_string(ns_per_unit));
  EXPECT_LT(ns_per_unit, kMostNsPerUnit);
}

// Copies of many sets of lanes arrive at one mbarrier, and a lane looks again and again whether they are over.
TEST(VectorClocks, LooksForCopiesOfManySetsOfLanesCostWhatIsCharged) {
  RaceDetector shadow(4096, 4, kFullBlock);
  shadow.begin_mbarrier(0);
  for (std::uint32_t warp = 0; warp < kFullBlock; ++warp) {
    for (int k = 0; k < kWarpSize; ++k) shadow.arrive(0, warp, kAllLanes << k, kAllLanes, true);
    for (int k = 0; k < kWarpSize; ++k) shadow.arrive(0, warp, 1u << k, kAllLanes, true);
  }
  shadow.complete(0);
  shadow.acquire(0, 0, 1, kAllLanes);
  shadow.take_work();
  const double began_s = processor_s();
  for (int i = 0; i < 100; ++i) shadow.acquire(0, 0, 1, kAllLanes);
  const double ns_per_unit = 1e9 * (processor_s() - began_s) / static_cast<double>(shadow.take_work());
  RecordProperty("ns_per_unit", std::to_string(ns_per_unit));
  EXPECT_LT(ns_per_unit, kMostNsPerUnit);
}

// Against one number per lane.
TEST(VectorClocks, KnowCopiesLaneByLane) {
  constexpr std::uint32_t kCopyingWarps = 3;
  struct Model {
    KnownCopies known;
    std::uint32_t batches[kCopyingWarps][kWarpSize] = {};
    void add(std::uint32_t warp, std::uint32_t lanes, std::uint32_t to) {
      known.add(warp, lanes, to);
      for (std::uint32_t l = 0; l < kWarpSize; ++l)
        if ((lanes >> l & 1u) != 0) batches[warp][l] = std::max(batches[warp][l], to);
    }
    bool is_right() const {
      for (std::uint32_t w = 0; w < kCopyingWarps; ++w) {
        for (int l = 0; l < kWarpSize; ++l) {
          const std::uint32_t last = batches[w][l];
          if ((last != 0 && !known.include(w, l, last)) || known.include(w, l, last + 1)) return false;
        }
      }
      return known.parts() <= kCopyingWarps * kWarpSize;
    }
  };
  std::uint64_t seed = 0;
  const auto chance = [&] { return static_cast<std::uint32_t>(mix(++seed)); };
  for (int trial = 0; trial < 300; ++trial) {
    Model one, other, both, common;
    for (int i = 0; i < 12; ++i) {
      const std::uint32_t lanes = i % 3 == 0 ? kAllLanes : i % 3 == 1 ? chance() & chance() : 1u << chance() % 32;
      (chance() % 2 == 0 ? one : other).add(chance() % kCopyingWarps, lanes, 1 + chance() % 4);
    }
    both = common = one;
    both.known.join(other.known);
    common.known = one.known.in_common(other.known);
    bool covers = true;
    for (std::uint32_t w = 0; w < kCopyingWarps; ++w) {
      for (int l = 0; l < kWarpSize; ++l) {
        covers = covers && one.batches[w][l] >= other.batches[w][l];
        both.batches[w][l] = std::max(one.batches[w][l], other.batches[w][l]);
        common.batches[w][l] = std::min(one.batches[w][l], other.batches[w][l]);
      }
    }
    ASSERT_TRUE(one.is_right() && other.is_right() && both.is_right() && common.is_right()) << trial;
    EXPECT_EQ(one.known.cover(other.known), covers);
    EXPECT_TRUE(both.known.cover(one.known) && both.known.cover(other.known) && other.known.cover(common.known));
  }
}

// Returns the processor time of a warp that executes an instruction 2000 times, with a value in %r5 of which a byte is
// set.
double time_of_many(const std::string& instruction) {
  test::Kernel kernel{
      "shl.b32 %r3, %r1, 2;\nadd.u32 %r3, %r3, %r11;\nst.shared.u8 [%r3], %r1;\nld.shared.u32 %r5, [%r3];\n"
      "mov.u32 %r4, 0;\nAGAIN:\n" +
      instruction + "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 2000;\n@%p1 bra AGAIN;\n"};
  kernel.sanitized = true;
  const double began_s = processor_s();
  const auto fault = test::run(kernel).fault;
  EXPECT_FALSE(fault.has_value()) << fault->message;
  return processor_s() - began_s;
}

TEST(VectorClocks, AMatchOfUnsetValuesTakesLittleLongerThanAShuffle) {
  const double shuffles_s = time_of_many("shfl.sync.bfly.b32 %r6, %r5, 1, 31, 0xffffffff;\n");
  const double matches_s = time_of_many("match.any.sync.b32 %r6, %r5, 0xffffffff;\n");
  RecordProperty("times_a_shuffle", std::to_string(matches_s / shuffles_s));
  EXPECT_LT(matches_s, 6 * shuffles_s);
}

TEST(VectorClocks, LocksOfEveryByteTakeLittleMemory) {
  const std::size_t before = heap_bytes();
  RaceDetector shadow = fenced_apart(1);
  for (std::uint32_t warp = 0; warp < kFullBlock; ++warp) {  // each warp learns what all warps before it know
    ASSERT_FALSE(shadow.touch(warp, 2, row_at(0, 4), SharedTouch::atomic));
    shadow.see(warp, row_at(0, 4), kAllLanes);
  }
  for (std::uint64_t first = 0; first + kWarpSize <= kBytes; first += kWarpSize)
    ASSERT_FALSE(shadow.touch(static_cast<std::uint32_t>(first / kWarpSize) % kFullBlock, 3, row_at(first, 1),
                              SharedTouch::publish));
  for (std::uint64_t byte = 0; byte < kBytes; byte += 8) {
    shadow.begin_mbarrier(byte);
    shadow.arrive(byte, static_cast<std::uint32_t>(byte / 8) % kFullBlock, kAllLanes, kAllLanes, false);
  }
  EXPECT_LT(heap_bytes() - before, 20u << 20);
}

// When locks would take too much memory, all words share one lock. It still orders: no race is reported between a store
// and a load that a lock orders.
TEST(VectorClocks, ThousandsOfLocksStillOrder) {
  RaceDetector shadow = fenced_apart(1);
  ASSERT_FALSE(shadow.touch(0, 2, row_at(0, 4), SharedTouch::write));
  for (std::uint64_t first = 1024; first + kWarpSize <= kBytes; first += kWarpSize)
    ASSERT_FALSE(shadow.touch(0, 3, row_at(first, 1), SharedTouch::publish));
  EXPECT_FALSE(shadow.touch(1, 4, row_at(1024, 1), SharedTouch::acquire));
  EXPECT_FALSE(shadow.touch(1, 5, row_at(0, 4), SharedTouch::read));
  const auto race = shadow.touch(2, 5, row_at(0, 4), SharedTouch::read);
  ASSERT_TRUE(race.has_value());
  EXPECT_EQ(race->kind, RaceDetector::Finding::Kind::race);
}

// Lane 0 of warp 0 arrives at one of many mbarriers for its warp, which has met before if `meets`; warp 1 waits there,
// and reads what warp 0 has written.
std::optional<RaceDetector::Finding> found_among_mbarriers(bool meets) {
  RaceDetector shadow(8192, 4, 2);
  for (std::uint64_t byte = 4096; byte < 8192; byte += 8) shadow.begin_mbarrier(byte);
  EXPECT_FALSE(shadow.touch(0, 1, row_at(0, 4), SharedTouch::write));
  if (meets) shadow.meet_in_warp(0);
  shadow.arrive(4096, 0, 1, kAllLanes, false);
  shadow.complete(4096);
  shadow.acquire(4096, 1, kAllLanes, kAllLanes);
  return shadow.touch(1, 2, row_at(0, 4), SharedTouch::read);
}

TEST(VectorClocks, AnArrivalOfOneLaneAmongManyMbarriersTellsOfThatLane) {
  const auto race = found_among_mbarriers(false);
  ASSERT_TRUE(race.has_value());
  EXPECT_EQ(race->kind, RaceDetector::Finding::Kind::race);
  EXPECT_EQ(race->lane, 1);
  EXPECT_FALSE(found_among_mbarriers(true).has_value());
}

// Whoever waits for a phase alone is ordered behind all who arrived at earlier ones, too, but not behind what these
// have done since.
TEST(VectorClocks, APhaseEndsBehindAllEarlierOnes) {
  RaceDetector shadow(8192, 4, 3);
  shadow.begin_mbarrier(4096);
  for (std::uint32_t warp = 0; warp < 2; ++warp) {
    EXPECT_FALSE(shadow.touch(warp, 1, row_at(128ull * warp, 4), SharedTouch::write));
    shadow.arrive(4096, warp, kAllLanes, kAllLanes, false);
    shadow.complete(4096);
  }
  EXPECT_FALSE(shadow.touch(0, 1, row_at(256, 4), SharedTouch::write));
  shadow.acquire(4096, 2, kAllLanes, kAllLanes);
  for (std::uint64_t first : {0, 128}) EXPECT_FALSE(shadow.touch(2, 2, row_at(first, 4), SharedTouch::read)) << first;
  EXPECT_TRUE(shadow.touch(2, 2, row_at(256, 4), SharedTouch::read));
}

// If a word is one byte, a lane's wide access checks many words.
TEST(VectorClocks, EachWordOfALaneThatIsCheckedCloselyIsCharged) {
  RaceDetector shadow = fenced_apart(1);
  EXPECT_FALSE(shadow.touch(0, 2, row_at(0, 16), SharedTouch::read));
  EXPECT_EQ(shadow.take_work(), 0u);
  shadow.meet_in_warp(0, kOdd);
  shadow.take_work();
  const double began_s = processor_s();
  constexpr std::uint64_t kTimes = 500, kFurther = kWarpSize * 15 * work::kCheckedWord;
  for (std::uint64_t i = 0; i < kTimes; ++i) EXPECT_FALSE(shadow.touch(0, 2, row_at(0, 16), SharedTouch::read));
  const double ns = 1e9 * (processor_s() - began_s) / static_cast<double>(kTimes);
  EXPECT_EQ(shadow.take_work(), kTimes * kFurther);
  const double ns_per_unit = ns / static_cast<double>(kFurther + kWarpSize * work::kCheckedLane);
  RecordProperty("ns_per_unit", std::to_string(ns_per_unit));
  EXPECT_LT(ns_per_unit, kMostNsPerUnit);
}

}  // namespace
}  // namespace roofwalk::vgpu
