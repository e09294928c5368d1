// When the last block that waited for another one ends, at the earliest (GridTrace::chain_cycles).
#include <gtest/gtest.h>

#include "common/vgpu/state/block_chain.h"
#include "tests/unit/vgpu/exec/grid_runner.h"

namespace roofwalk::vgpu {
namespace {

constexpr std::int64_t kRounds = 100;  // of work()

// A chain of dependent operations that takes at least four cycles a round.
std::string work() {
  return "mov.u32 %r5, 0;\nwork:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, " + std::to_string(kRounds) +
         ";\n@%p3 bra work;\n";
}

// Polls until a word holds the value of this register.
std::string wait_for(const std::string& value, const std::string& load = "ld.volatile.global.u32 %r3, [%rd1];\n") {
  return "wait:\n" + load + "setp.ne.u32 %p2, %r3, " + value + ";\n@%p2 bra wait;\n";
}

const std::string kNext = "add.u32 %r4, %r2, 1;\n";

std::int64_t chain_of(const std::string& body, std::uint32_t blocks, std::uint32_t threads = 1,
                      std::size_t words = 1024) {
  TraceLimits few;
  few.instructions = few.one_wave_instructions = 500;
  few.waves = 1;
  const auto got = test::run(
      {.body = body, .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .words = words, .block_cycles = 4}, few);
  EXPECT_FALSE(got.trace.complete);
  return got.trace.chain_cycles;
}

TEST(BlockChain, BlocksThatTakeTurnsPutEachOtherOff) {
  const std::string turns = wait_for("%r2") + work() + kNext + "st.volatile.global.u32 [%rd1], %r4;\n";
  const std::int64_t of_64 = chain_of(turns, 64), of_128 = chain_of(turns, 128);
  EXPECT_GE(of_64, 63 * 4 * kRounds);
  EXPECT_NEAR(static_cast<double>(of_128) / static_cast<double>(of_64), 2, 0.05);
}

TEST(BlockChain, TurnsMayBeByAtomicsAndByPlainLoads) {
  const std::string atomics = wait_for("%r2", "atom.global.or.b32 %r3, [%rd1], 0;\n") + work() +
                              "mov.u32 %r6, 1;\nred.global.add.u32 [%rd1], %r6;\n";
  EXPECT_GE(chain_of(atomics, 64), 63 * 4 * kRounds);
  const std::string plain =
      wait_for("%r2", "ld.global.cg.u32 %r3, [%rd1];\n") + work() + kNext + "st.global.u32 [%rd1], %r4;\n";
  EXPECT_GE(chain_of(plain, 64), 60 * 4 * kRounds);
}

// A non-coherent load must not read what others write, but nothing keeps it from doing so.
TEST(BlockChain, TurnsMayBeByNonCoherentLoads) {
  const std::string turns = wait_for("%r2", "ld.global.nc.u32 %r3, [%rd1];\n") + work() + kNext;
  EXPECT_GE(chain_of(turns + "st.volatile.global.u32 [%rd1], %r4;\n", 64), 60 * 4 * kRounds);
  // What nobody writes meanwhile puts nobody off.
  const std::string limit =
      "mov.u32 %r5, 0;\nwork:\nld.global.nc.u32 %r6, [%rd2];\nadd.u32 %r6, %r6, 100;\nadd.u32 %r5, %r5, 1;\n"
      "setp.lt.u32 %p3, %r5, %r6;\n@%p3 bra work;\nst.volatile.global.u32 [%rd1], %r2;\n";
  EXPECT_EQ(chain_of(limit, 64), 0);
}

// Each block's flags are on a page of their own, at which it looks only when they are set. It gets there by barriers,
// which are turns, but take no time.
TEST(BlockChain, PlainStoresOfAWarpCountWhereNobodyHasLookedYet) {
  constexpr std::uint32_t kBlocks = 64, kPageWords = 1024;
  std::string late = "and.b32 %r6, %r2, 3;\nmov.u32 %r7, 0;\nlate:\nsetp.ge.u32 %p4, %r7, %r6;\n@%p4 bra look;\n";
  for (std::int64_t i = 0; i < kRounds + 20; ++i) late += "bar.sync 0;\n";
  late += "add.u32 %r7, %r7, 1;\nbra late;\nlook:\n";
  const std::string place =
      "mul.wide.u32 %rd3, %r2, 4096;\nadd.u64 %rd4, %rd1, %rd3;\nmul.wide.u32 %rd5, %r1, 4;\n"
      "add.u64 %rd4, %rd4, %rd5;\nmin.u32 %r8, %r2, 1;\n";
  const std::string wait = wait_for("%r8", "ld.volatile.global.u32 %r3, [%rd4];\n");
  const std::string tell = "mov.u32 %r9, 1;\nst.global.u32 [%rd4+4096], %r9;\n";
  const std::size_t words = (kBlocks + 1) * kPageWords;
  EXPECT_GE(chain_of(late + place + wait + work() + tell, kBlocks, 32, words), 60 * 4 * kRounds);
  // Those who look only at what they have stored themselves wait for nobody.
  const std::string own =
      "mov.u32 %r9, 1;\nst.global.u32 [%rd4], %r9;\n" + wait_for("%r9", "ld.volatile.global.u32 %r3, [%rd4];\n");
  EXPECT_EQ(chain_of(place + own + work(), kBlocks, 32, words), 0);
}

// The warp that waits, the one that works and the one that tells the next block are three.
TEST(BlockChain, WaitsAreHandedOnWithinABlock) {
  const std::string bodies[] = {
      "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra seen;\n" + wait_for("%r2") + "seen:\nbar.sync 0;\n",
      "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra flag;\n" + wait_for("%r2") +
          "st.volatile.shared.u32 [%r11], 1;\nbra seen;\nflag:\nld.volatile.shared.u32 %r7, [%r11];\n"
          "setp.ne.u32 %p4, %r7, 1;\n@%p4 bra flag;\nseen:\n"};
  const std::string rest = "setp.ge.u32 %p1, %r1, 64;\n@%p1 bra rest;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra rest;\n" +
                           work() + "rest:\nbar.sync 1;\nsetp.ne.u32 %p1, %r1, 64;\n@%p1 bra out;\n" + kNext +
                           "st.volatile.global.u32 [%rd1], %r4;\nout:\n";
  for (const std::string& body : bodies) EXPECT_GE(chain_of(body + rest, 32, 96), 31 * 4 * kRounds) << body;
}

// A barrier of the whole block opens when the warp that waits has ended.
TEST(BlockChain, WaitsAreHandedOnByWarpsThatEnd) {
  const std::string turns = "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra others;\n" + wait_for("%r2") +
                            "ret;\nothers:\nbar.sync 0;\n" + work() + "setp.ne.u32 %p1, %r1, 32;\n@%p1 bra out;\n" +
                            kNext + "st.volatile.global.u32 [%rd1], %r4;\nout:\n";
  EXPECT_GE(chain_of(turns, 32, 64), 31 * 4 * kRounds);
}

TEST(BlockChain, ManyMayWaitForOneAtOnce) {
  const std::string one = "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra others;\n" + work() +
                          "st.volatile.global.u32 [%rd1], 7;\nret;\nothers:\n" + wait_for("7") +
                          "add.u32 %r6, %r5, 1;\n";
  const std::int64_t of_64 = chain_of(one, 64), of_512 = chain_of(one, 512);
  EXPECT_GE(of_64, 4 * kRounds);
  EXPECT_LT(of_512, 10 * of_64);  // the blocks of a slot come one after the other
}

// Blocks take turns in groups of four, which are as many as run at the same time.
TEST(BlockChain, ChainsOfWavesFollowEachOther) {
  const std::string groups =
      "shr.u32 %r6, %r2, 2;\nand.b32 %r7, %r2, 3;\nshl.b32 %r6, %r6, 2;\n"
      "cvt.u64.u32 %rd3, %r6;\nadd.u64 %rd1, %rd1, %rd3;\n" +
      wait_for("%r7") + work() + "add.u32 %r4, %r7, 1;\nst.volatile.global.u32 [%rd1], %r4;\n";
  EXPECT_GE(chain_of(groups, 64), 60 * 4 * kRounds / 4 * 2);
}

TEST(BlockChain, WhoWaitsForNobodyHasNone) {
  const std::string counts = "mov.u32 %r6, 1;\nred.global.add.u32 [%rd1], %r6;\n";
  EXPECT_EQ(chain_of(work() + counts, 64), 0);
  const std::string own =
      "shl.b32 %r6, %r2, 2;\ncvt.u64.u32 %rd3, %r6;\nadd.u64 %rd1, %rd1, %rd3;\n"
      "st.volatile.global.u32 [%rd1], 1;\n";
  EXPECT_EQ(chain_of(own + wait_for("1") + work(), 64), 0);
}

// How often a warp looks in vain depends on the order of turns, not on the time.
TEST(BlockChain, TriesInVainTakeNoTime) {
  const std::string slow = "work:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 1000;\n@%p3 bra work;\n";
  const std::string one = "mov.u32 %r5, 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra others;\n" + slow +
                          "st.volatile.global.u32 [%rd1], 7;\nret;\nothers:\n" + wait_for("7");
  // One round of the loop is a turn, and so is one look, which takes far longer.
  EXPECT_LT(chain_of(one, 64), 1000 * 20);
}

// But tries at other words than the one that has changed are no wait for that change, whatever lies between them.
TEST(BlockChain, TriesAtOtherWordsTakeTheirTime) {
  constexpr std::int64_t kTries = 5;
  const std::string own = "mul.wide.u32 %rd4, %r2, 4;\nadd.u64 %rd4, %rd4, %rd2;\n";
  const std::string turn =
      "mov.u32 %r6, 0;\nmov.u64 %rd3, %rd1;\nlook:\nld.volatile.global.u32 %r3, [%rd3];\nsetp.ne.u32 %p1, %r6, 0;\n"
      "@%p1 bra between;\nsetp.ne.u32 %p2, %r3, %r2;\n@%p2 bra look;\nst.volatile.global.u32 [%rd4], 7;\nbetween:\n"
      "add.u32 %r6, %r6, 1;\n";
  const std::string again = "setp.gt.u32 %p4, %r6, " + std::to_string(kTries) +
                            ";\n@%p4 bra done;\nsetp.lt.u32 %p5, %r6, " + std::to_string(kTries) +
                            ";\n@%p5 bra look;\nmov.u64 %rd3, %rd4;\nbra look;\ndone:\n";
  const std::string body = own + turn + work() + again + kNext + "st.volatile.global.u32 [%rd1], %r4;\n";
  EXPECT_GE(chain_of(body, 32), 31 * kTries * 4 * kRounds);
}

TEST(BlockChain, KeepsWhatAtomicsKeep) {
  BlockChain chain;
  chain.look(16, true);
  EXPECT_TRUE(chain.may_be_looked_at(64, 68));
  EXPECT_FALSE(chain.may_be_looked_at(1 << 20, (1 << 20) + 4));
  chain.write(16, {.clock = 500, .block = 1}, false, true);
  chain.write(16, {.clock = 300, .block = 2}, true, true);
  EXPECT_EQ(chain.latest(16).clock, 500);
  EXPECT_TRUE(chain.latest(16).of_several);
  chain.write(16, {.clock = 100, .block = 3}, false, true);
  EXPECT_FALSE(chain.latest(16).of_several);
  EXPECT_EQ(chain.latest(16).clock, 100);
  EXPECT_EQ(chain.latest(16).order, 3u);
  EXPECT_EQ(chain.latest(17).order, 0u);
}

TEST(BlockChain, TakesOverWhatARoundAdds) {
  BlockChain chain, round;
  round.look(16, true);
  round.write(16, {.clock = 500, .block = 1}, false, true);
  round.note_look(5000);
  chain.take(round);
  EXPECT_TRUE(chain.may_be_looked_at(64, 68));
  EXPECT_TRUE(chain.may_be_looked_at(20'000, 20'004));
  EXPECT_EQ(chain.latest(16).clock, 500);
  EXPECT_EQ(round.latest(16).order, 0u);
}

TEST(BlockChain, KeepsTheLatestPlainStoreToAPageThatNobodyHasSeen) {
  constexpr std::uint64_t kPage = 4096, kWordsOfPage = kPage / BlockChain::kWordBytes;
  BlockChain chain;
  chain.write_unseen(2 * kPage + 128, 2 * kPage + 256, {.clock = 500, .block = 1});
  EXPECT_EQ(chain.latest(2 * kWordsOfPage).clock, 500);
  EXPECT_FALSE(chain.latest(2 * kWordsOfPage).of_several);
  EXPECT_EQ(chain.latest(kWordsOfPage).order, 0u);
  EXPECT_EQ(chain.latest(3 * kWordsOfPage).order, 0u);
  chain.write_unseen(3 * kPage - 4, 3 * kPage + 4, {.clock = 300, .block = 2});
  EXPECT_EQ(chain.latest(2 * kWordsOfPage).clock, 500);
  EXPECT_TRUE(chain.latest(2 * kWordsOfPage).of_several);
  EXPECT_EQ(chain.latest(3 * kWordsOfPage).clock, 300);
  // A later change of a word itself is known better.
  chain.look(2 * kWordsOfPage, true);
  chain.write(2 * kWordsOfPage, {.clock = 400, .block = 3}, false, true);
  EXPECT_EQ(chain.latest(2 * kWordsOfPage).clock, 400);
  BlockChain round;
  round.write_unseen(3 * kPage, 3 * kPage + 4, {.clock = 900, .block = 2});
  chain.take(round);
  EXPECT_EQ(chain.latest(3 * kWordsOfPage).clock, 900);
  EXPECT_EQ(round.latest(3 * kWordsOfPage).order, 0u);
}

// What a kernel stores beside its flags crowds out none of them.
TEST(BlockChain, FlagsHaveRoomOfTheirOwn) {
  BlockChain chain;
  chain.look(1, true);
  for (std::uint64_t word = 2; word < (1u << 20) + 10; ++word) chain.write(word, {.clock = 7}, false, false);
  chain.write(1, {.clock = 900}, false, false);
  EXPECT_EQ(chain.latest(1).clock, 900);
  chain.write(2u << 20, {.clock = 800}, false, true);
  EXPECT_EQ(chain.latest(2u << 20).clock, 800);
  // Of those that found no room, the latest stands for all.
  chain.write(3u << 20, {.clock = 950}, false, false);
  EXPECT_EQ(chain.latest(3u << 20).clock, 950);
}

}  // namespace
}  // namespace roofwalk::vgpu
