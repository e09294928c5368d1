// For which writes by other blocks a look at global memory waits: for those of all bytes that it sees, and for all
// changes by atomics that made what it sees.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/unit/vgpu/exec/grid_runner.h"

namespace roofwalk::vgpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Runs three blocks of one warp, each with code of its own, and returns, by block, for which others its last look
// waits.
std::vector<std::set<std::uint64_t>> waits_of(const std::vector<std::string>& bodies) {
  std::string code;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const std::string number = std::to_string(b), other = "other" + number;
    code += "setp.ne.u32 %p1, %r2, " + number + ";\n@%p1 bra " + other + ";\n" + bodies[b] + "ret;\n" + other + ":\n";
  }
  const auto got = test::run({.body = code, .grid = {3, 1, 1}, .block = {1, 1, 1}});
  EXPECT_TRUE(got.trace.complete);
  std::vector<std::set<std::uint64_t>> out;
  for (const BlockTrace& block : got.trace.blocks) {
    std::set<std::uint64_t>& blocks = out.emplace_back();
    const std::vector<BlockWait>& waits = block.warps[0].block_waits;
    for (const BlockWait& wait : waits) {
      if (wait.outcome != waits.back().outcome) continue;
      for (std::uint32_t at = wait.write; at != AwaitedWrite::kNone; at = got.trace.writes[at].follows)
        blocks.insert(got.trace.writes[at].by.block);
    }
    blocks.erase(block.index);
  }
  return out;
}

// A loop that does `first` before each look, until what `load` reads into %r3 has this bit.
std::string look(const std::string& load, int bit, const std::string& first = "") {
  static int loops = 0;
  const std::string label = "look" + std::to_string(++loops);
  return label + ":\n" + first + load + "and.b32 %r4, %r3, " + std::to_string(1u << bit) + ";\n" +
         "setp.eq.u32 %p2, %r4, 0;\n@%p2 bra " + label + ";\n";
}

const std::string kWord = "ld.volatile.global.u32 %r3, [%rd1];\n", kByte = "ld.volatile.global.u8 %r3, [%rd1];\n";
const std::string kOne = "mov.u32 %r5, 1;\n";

std::string byte_store(int at) { return kOne + "st.volatile.global.u8 [%rd1+" + std::to_string(at) + "], %r5;\n"; }
std::string word_store(int bits) { return "st.volatile.global.u32 [%rd1], " + std::to_string(bits) + ";\n"; }
std::string change(const std::string& how, int bits) {
  return "red.global." + how + " [%rd1], " + std::to_string(bits) + ";\n";
}

TEST(GridFlow, ALookAtAByteIsForItsWriterWhoeverWroteThoseBesideIt) {
  EXPECT_THAT(waits_of({byte_store(0), look(kByte, 0, byte_store(1)), byte_store(2)})[1], ElementsAre(0));
  EXPECT_THAT(waits_of({byte_store(3), look(kWord, 24, byte_store(1)), ""})[1], ElementsAre(0));
  const std::string halves = "mov.u32 %r5, 2;\nst.volatile.global.u16 [%rd1+2], %r5;\n";
  EXPECT_THAT(waits_of({"st.volatile.global.u16 [%rd1], 1;\n", look(kByte, 0, halves), ""})[1], ElementsAre(0));
}

TEST(GridFlow, ALookAtAWordIsForTheWritersOfAllItsBytes) {
  EXPECT_THAT(waits_of({byte_store(0), look(kWord, 0) + look(kWord, 16), byte_store(2)})[1], ElementsAre(0, 2));
  // A store of the whole word leaves nothing of what was there before.
  const std::string behind = look(kByte, 0) + word_store(256);
  EXPECT_THAT(waits_of({byte_store(0), behind, look(kWord, 8)})[2], ElementsAre(1));
}

TEST(GridFlow, ALookAtACounterIsForAllWhoCounted) {
  const auto meet = [](int share) { return change("add.u32", share) + look(kWord, 3); };
  const auto waits = waits_of({meet(2), meet(2), meet(4)});
  EXPECT_THAT(waits, ElementsAre(ElementsAre(1, 2), ElementsAre(0, 2), ElementsAre(0, 1)));
}

TEST(GridFlow, AnOwnChangeOfAWordHidesNobodysBeforeIt) {
  EXPECT_THAT(waits_of({change("add.u32", 65536), look(kWord, 16, change("add.u32", 1)), ""})[1], ElementsAre(0));
  EXPECT_THAT(waits_of({change("or.b32", 1), look(kWord, 0, change("xor.b32", 256)), ""})[1], ElementsAre(0));
  EXPECT_THAT(waits_of({word_store(1), look(kWord, 0, change("xor.b32", 256)), ""})[1], ElementsAre(0));
  EXPECT_THAT(waits_of({byte_store(0), look(kWord, 0, change("or.b32", 256)), ""})[1], ElementsAre(0));
  const std::string polls = look("atom.global.or.b32 %r3, [%rd1], 256;\n", 0);
  EXPECT_THAT(waits_of({change("or.b32", 1), polls, ""})[1], ElementsAre(0));
}

// Whoever sees what an exchange wrote does not see what was there before.
TEST(GridFlow, AnExchangeHidesWhatWasThereBefore) {
  const std::string behind = look(kWord, 0) + "atom.global.exch.b32 %r6, [%rd1], 2;\n";
  const auto waits = waits_of({change("or.b32", 1), behind, look(kWord, 1)});
  EXPECT_THAT(waits, ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(1)));
}

const std::string kOther = "ld.global.u32 %r7, [%rd2];\n";

// An atomic that counts nothing is a look, also in a loop that loads something else.
TEST(GridFlow, ALookByAnAtomicMayBeBesideALoad) {
  for (const char* how :
       {"or.b32 %r3, [%rd1], 0", "add.u32 %r3, [%rd1], %r5", "cas.b32 %r3, [%rd1], 7, 8", "max.u32 %r3, [%rd1], 1"}) {
    SCOPED_TRACE(how);
    const std::string none = "mov.u32 %r5, 0;\n", beside = std::string("atom.global.") + how + ";\n" + kOther;
    EXPECT_THAT(waits_of({word_store(1), none + look(beside, 0), ""})[1], ElementsAre(0));
  }
}

TEST(GridFlow, WhoTakesWorkFromAQueueWaitsForNobody) {
  const auto take = [] { return kOne + look("atom.global.add.u32 %r3, [%rd1], %r5;\n" + kOther, 3); };
  EXPECT_THAT(waits_of({take(), take(), take()}), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(GridFlow, ALookByAPlainLoadMayBeBesideAStore) {
  const std::string plain = "ld.global.cg.u32 %r3, [%rd1];\n" + kOther;
  EXPECT_THAT(waits_of({word_store(1), look(plain, 0, "st.global.u32 [%rd2], 1;\n"), ""})[1], ElementsAre(0));
  // A look that ends nothing.
  const std::string counted = kOne + "mov.u32 %r6, 0;\ncounted:\n" + plain +
                              "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra over;\nadd.u32 %r5, %r5, 1;\nover:\n"
                              "st.global.u32 [%rd2], %r5;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 9;\n"
                              "@%p3 bra counted;\n";
  EXPECT_THAT(waits_of({word_store(1), counted, ""})[1], IsEmpty());
}

// A loop that stores elsewhere before each look, and then does `more`, until %r8 is 1.
std::string look_and(const std::string& load, const std::string& more) {
  static int loops = 0;
  const std::string label = "again" + std::to_string(++loops), number = std::to_string(loops);
  std::string text =
      label + ":\nst.global.u32 [%rd2+128], 1;\n" + load + more + "setp.ne.u32 %p2, %r8, 1;\n@%p2 bra " + label + ";\n";
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$')) text.replace(at, 1, number);
  return text;
}

TEST(GridFlow, WhateverMakesALoopEndOfWhatItSeesItWaits) {
  const std::string plain = "ld.global.cg.u32 %r3, [%rd1];\n", prepared = "st.shared.u32 [%r11+4], 1;\n";
  const std::string copy = "cp.async.ca.shared.global [%r11], [%rd1], 4;\ncp.async.wait_all;\n";
  const std::string of_shared = "ld.shared.u32 %r8, [%r11];\n";
  const std::pair<std::string, std::string> loops[] = {
      {plain,
       "cvt.rn.f32.u32 %f1, %r3;\nadd.f32 %f1, %f1, 0f3f800000;\ncvt.rzi.u32.f32 %r8, %f1;\n"
       "sub.u32 %r8, %r8, 1;\n"},
      {plain, "st.shared.u32 [%r11], %r3;\n" + of_shared},
      {plain, "shl.b32 %r4, %r3, 2;\nadd.u32 %r4, %r4, %r11;\nld.shared.u32 %r8, [%r4];\n"},
      {copy, of_shared},
      {plain, "setp.eq.u32 %p3, %r3, 0;\nmov.u32 %r8, 0;\n@%p3 bra over$;\nmov.u32 %r8, 1;\nover$:\n"},
      {"atom.global.or.b32 %r3, [%rd1], 0;\n",
       kOther + "setp.eq.u32 %p3, %r3, 0;\nmov.u32 %r8, 0;\n@%p3 bra over$;\nmov.u32 %r8, 1;\nover$:\n"},
      {"atom.global.inc.u32 %r3, [%rd1], 0;\n", kOther + "mov.u32 %r8, %r3;\n"},
      {"atom.global.exch.b32 %r3, [%rd1], 0;\n", "st.global.u32 [%rd2+256], %r3;\nld.global.u32 %r8, [%rd2+256];\n"},
  };
  for (const auto& [load, more] : loops) {
    SCOPED_TRACE(load + more);
    EXPECT_THAT(waits_of({word_store(1), prepared + look_and(load, more), ""})[1], ElementsAre(0));
  }
}

TEST(GridFlow, ALadderOfLooksWaitsAndOneLookDoesNot) {
  const auto ladder = [](int looks) {
    std::string out;
    for (int i = 0; i < looks; ++i)
      out += "ld.global.cg.u32 %r3, [%rd1];\nbar.sync 0;\nsetp.eq.u32 %p2, %r3, 1;\n@%p2 bra seen;\n";
    return out + "seen:\nst.global.u32 [%rd2], %r3;\n";
  };
  const std::string late = "bar.sync 0;\nbar.sync 0;\n" + word_store(1);
  EXPECT_THAT(waits_of({late, ladder(64), ""})[1], ElementsAre(0));
  EXPECT_THAT(waits_of({word_store(1), ladder(1), ""})[1], IsEmpty());
  const auto ladder_of_atomics = [](int looks) {
    std::string out;
    for (int i = 0; i < looks; ++i)
      out += "atom.global.or.b32 %r3, [%rd1], 0;\nbar.sync 0;\nsetp.eq.u32 %p2, %r3, 1;\n@%p2 bra seen;\n";
    return out + "seen:\nst.global.u32 [%rd2], %r3;\n";
  };
  EXPECT_THAT(waits_of({late, ladder_of_atomics(64), ""})[1], ElementsAre(0));
  EXPECT_THAT(waits_of({word_store(1), ladder_of_atomics(1), ""})[1], IsEmpty());
}

TEST(GridFlow, RoundsThatDoNothingBehindTheLookThatSeesItWait) {
  const std::string rounds =
      "mov.u32 %r9, 0;\nmov.u32 %r10, 0;\nround:\nsetp.ne.u32 %p2, %r10, 0;\n@%p2 bra next;\n"
      "st.global.u32 [%rd2+128], 1;\n"
      "ld.global.cg.u32 %r3, [%rd1];\nsetp.ne.u32 %p3, %r3, 1;\n@%p3 bra next;\nst.global.u32 [%rd1], 2;\n"
      "mov.u32 %r10, 1;\nnext:\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p4, %r9, 64;\n@%p4 bra round;\n";
  EXPECT_THAT(waits_of({word_store(1), rounds, ""})[1], ElementsAre(0));
}

// Runs two warps of a block, each with code of its own, and returns for how many writes of the first the second waits.
std::size_t awaited_of_first(const std::string& first, const std::string& second) {
  const auto got =
      test::run({.body = "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra second;\n" + first + "ret;\nsecond:\n" + second,
                 .block = {64, 1, 1}});
  const auto& points = got.trace.blocks.at(0).warps.at(0).sync_points;  // of those that some warp waits for
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const SyncPoint& each) { return each.kind == SyncPoint::Kind::arrives; }));
}

// The same within a block.
TEST(GlobalFlow, WhatAWarpWritesBesideOrBehindHidesNobodysBeforeIt) {
  EXPECT_EQ(awaited_of_first(change("or.b32", 1), look(kWord, 0, byte_store(1))), 1u);
  EXPECT_EQ(awaited_of_first(byte_store(0), look(kWord, 0, change("or.b32", 256))), 1u);
  EXPECT_EQ(awaited_of_first(word_store(1), look(kWord, 0, change("or.b32", 256))), 1u);
  EXPECT_EQ(awaited_of_first(word_store(1), look(kWord, 0, byte_store(1))), 1u);
}

TEST(GlobalFlow, ALookThatIsMadeOnceWaitsForNobody) {
  const std::string once = kWord + "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra out;\nst.global.u32 [%rd2], 1;\nout:\n";
  EXPECT_EQ(awaited_of_first(change("add.u32", 1), once), 0u);
  EXPECT_EQ(awaited_of_first(change("add.u32", 1), look(kWord, 5)), 1u);
  std::string many;
  for (int i = 0; i < 16; ++i) many += kWord + "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra out;\n";
  EXPECT_EQ(awaited_of_first(change("add.u32", 1), many + "st.global.u32 [%rd2], 1;\nout:\n"), 1u);
}

TEST(GlobalFlow, AStoreOrAnExchangeHidesWhatWasThereBefore) {
  const std::string store_and_tell = word_store(1) + "st.volatile.global.u32 [%rd2], 1;\n";
  const std::string told = look("ld.volatile.global.u32 %r3, [%rd2];\n", 0);
  EXPECT_EQ(awaited_of_first(store_and_tell, told + change("or.b32", 2) + look(kWord, 1)), 2u);
  EXPECT_EQ(awaited_of_first(store_and_tell, told + "atom.global.exch.b32 %r6, [%rd1], 2;\n" + look(kWord, 1)), 1u);
  EXPECT_EQ(awaited_of_first(store_and_tell, told + word_store(2) + look(kWord, 1)), 1u);
}

}  // namespace
}  // namespace roofwalk::vgpu
