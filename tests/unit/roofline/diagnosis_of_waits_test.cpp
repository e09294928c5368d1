// Diagnoses of time in which warps wait: for bytes, places, barriers, results and turns.
#include <gmock/gmock.h>

#include "tests/unit/roofline/diagnosis_inputs.h"

namespace roofwalk {
namespace {

using test::causes;
using test::kIdealNs;
using test::only;
using test::settle_time;
using test::vector_add;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Diagnose, AFullGridThatWaitsWantsMoreBytesInFlight) {
  const Diagnosis found = only(vector_add(110000));
  EXPECT_EQ(found.cause, "latency");
  EXPECT_EQ(found.line, 7);
  EXPECT_NEAR(found.share, 0.5, 0.05);
  EXPECT_THAT(found.text, HasSubstr("The dot is x2.14 too low: too few bytes are in flight"));
  EXPECT_THAT(found.text, HasSubstr("wait for DRAM 91 % of their time (line 7)"));
  EXPECT_THAT(found.text, HasSubstr("128-bit"));
}

TEST(Diagnose, FewBlocksExplainAllWaiting) {
  DiagnosisInput in = vector_add(3e6);
  in.blocks = 1;
  in.waiting.insert(in.waiting.begin(), {"tail", "work", 0.75, 0});
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "few_blocks");
  EXPECT_EQ(found.line, 12);
  EXPECT_THAT(found.text, HasSubstr("1 block where 32 fit"));
  EXPECT_THAT(found.text, HasSubstr("Launch more blocks"));
}

TEST(Diagnose, AGridThatLeavesSomePlacesEmptyIsNotSmall) {
  DiagnosisInput in = vector_add(300000);
  for (const double blocks : {17.0, 31.0, 4096.0}) {
    in.blocks = blocks;
    EXPECT_THAT(causes(in), ElementsAre("latency")) << blocks;
  }
  in.blocks = 16;  // half of the slots are empty
  EXPECT_THAT(causes(in), ElementsAre("few_blocks"));
  in.resident_blocks_per_sm = 1, in.resident_blocks = 8;
  in.blocks = 7;  // one SM has no block
  EXPECT_THAT(causes(in), ElementsAre("few_blocks"));
}

TEST(Diagnose, ATailIsTheShareOfPlacesThatStandEmpty) {
  DiagnosisInput in = vector_add(64000);
  in.blocks = 40;
  in.waiting.push_back({"tail", "work", 0.37, 0});
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "tail");
  EXPECT_THAT(found.text, HasSubstr("the grid has 40: the last 8 run"));
  in.blocks = 4096;  // many waves: the partly filled last one is negligible, so blocks must differ
  EXPECT_THAT(only(in).text, HasSubstr("some blocks run far longer"));
  in.latency_ns = 5000;  // slots are empty, but no warp waits for them
  settle_time(in, kIdealNs);
  EXPECT_THAT(causes(in), IsEmpty());
}

TEST(Diagnose, AScatteredStoreIsNoReasonToWaitForLoads) {
  DiagnosisInput in = vector_add(110000);
  in.lines.push_back({.line = 20, .store_requests = 65536, .l1_sectors = 2e6, .ideal_l1_sectors = 262144});
  EXPECT_THAT(causes(in), ElementsAre("latency"));
  in.lines[0].l1_sectors *= 8;
  EXPECT_THAT(causes(in), ElementsAre("over_fetch"));
}

TEST(Diagnose, LowOccupancyIsWhyMemoryIsWaitedFor) {
  DiagnosisInput in = vector_add(300000);
  in.occupancy = 0.25;
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "low_occupancy");
  EXPECT_EQ(found.line, 12);
  EXPECT_THAT(found.text, HasSubstr("25 % of the warps"));
}

TEST(Diagnose, BarriersWhereNoOtherBlockRuns) {
  DiagnosisInput in = vector_add(110000);
  in.waiting = {{"dram", "DRAM", 0.72, 9}, {"barrier", "a barrier", 0.19, 10}};
  EXPECT_THAT(causes(in), ElementsAre("latency"));  // four blocks per SM: others run during the wait
  in.resident_blocks_per_sm = 1;
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "barriers");
  EXPECT_EQ(found.line, 9);  // the line of the loads that the barrier waits for
  EXPECT_THAT(found.text, HasSubstr("waits for the loads of line 9"));
  EXPECT_THAT(found.text, HasSubstr("cp.async"));
  in.waiting = {{"barrier", "a barrier", 0.46, 10}, {"dram", "DRAM", 0.45, 9}};
  EXPECT_THAT(only(in).text, HasSubstr("at its barriers (line 10)"));
}

// Warps wait at a barrier for the last warp. So the cause is what the last warp does or waits for: shared memory in the
// first case.
TEST(Diagnose, WhoeverWaitsAtABarrierWaitsForWhatTheLastWarpDoes) {
  DiagnosisInput in = vector_add(110000);
  in.resident_blocks_per_sm = 1;
  in.waiting = {{"barrier", "a barrier", 0.8, 10, {{"shared", 8, 0.9}, {"issued", 8, 0.1}}}};
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "shared_traffic");
  in.waiting = {{"barrier", "a barrier", 0.8, 10, {{"issued", 8, 0.8}, {"dram", 9, 0.2}}}};
  EXPECT_EQ(only(in).cause, "barriers");
  EXPECT_EQ(only(in).brief, "the last warp works at line 8");
  EXPECT_THAT(only(in).text, Not(HasSubstr("loads")));
  in.waiting = {{"barrier", "a barrier", 0.8, 10, {{"dram", 9, 1}}}};
  EXPECT_EQ(only(in).brief, "the last warp waits for the loads of line 9");
}

TEST(Diagnose, NoOtherBlockIsAskedForWhereNoneFits) {
  DiagnosisInput in = vector_add(110000);
  in.resident_blocks_per_sm = 1;
  in.waiting = {{"dram", "DRAM", 0.72, 9}, {"barrier", "a barrier", 0.19, 10}};
  EXPECT_THAT(only(in).text, HasSubstr("let more blocks share an SM"));
  in.limit = "its 255 registers a thread times 256 threads";
  EXPECT_THAT(only(in).text, HasSubstr("only one fits an SM, for its 255 registers a thread times 256 threads"));
  EXPECT_THAT(only(in).text, Not(HasSubstr("let more blocks share an SM")));
}

TEST(Diagnose, ManyBarriersAreSaidToBeMany) {
  DiagnosisInput in = vector_add(110000);
  in.waiting = {{"barrier", "a barrier", 0.5, 10}, {"dram", "DRAM", 0.4, 9}};
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "barriers");
  EXPECT_THAT(found.text, HasSubstr("50 % of their time (line 10)"));
  EXPECT_THAT(found.text, HasSubstr("__shfl_xor_sync"));
}

TEST(Diagnose, AChainWaitsForItself) {
  DiagnosisInput in = vector_add(700000);
  in.waiting = {{"dependency", "the result of the instruction before", 0.85, 21}, {"dram", "DRAM", 0.08, 9}};
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "dependency");
  EXPECT_EQ(found.line, 21);
  EXPECT_THAT(found.text, HasSubstr("85 % of their time"));
}

// Returns a sum of 2^22 values, all of which go to one word by an atomic: the figures of the reduction chapter's
// starter.
DiagnosisInput one_word() {
  DiagnosisInput in = vector_add(0);
  in.useful_flops = in.atomic_flops = 4194304;
  in.executed_flops = 0;
  in.compulsory_bytes = in.dram_bytes = in.l1_bytes = 16777220;
  in.l2_bytes = 20971520;
  in.observed_ai = in.algorithmic_ai = 0.25;
  in.dram_ns = 131072, in.l2_ns = 1553446, in.l1_ns = 32768;
  in.contention_ns = 14548992;
  in.global_write_bytes = 4194304, in.dram_write_bytes = 32;
  in.lines = {{.line = 10, .atomics = 64},
              {.line = 11, .load_requests = 131072, .store_requests = 131072, .atomics = 4194304}};
  in.waiting = {{"tail", "work", 0.51, 0}, {"l2", "L2", 0.3, 11}};
  settle_time(in, 131072);
  return in;
}

TEST(Diagnose, AtomicsOnOneWordTakeTurns) {
  DiagnosisInput in = one_word();
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "contended_atomics");
  EXPECT_EQ(found.line, 11);
  EXPECT_NEAR(found.share, 0.99, 0.005);  // without the turns, the 1.6 ms of L2 do not remain, either
  EXPECT_THAT(found.text, HasSubstr("The dot is x111 too low: atomics on one word take turns"));
  EXPECT_THAT(found.text, HasSubstr("take 14.5 ms of the 14.6 ms (line 11)"));
  EXPECT_EQ(found.brief, "the atomics on one word take turns");
  in.executed_flops = 5 * in.useful_flops;  // each warp adds up by shuffles first
  EXPECT_EQ(only(in).cause, "contended_atomics");
}

TEST(Diagnose, TurnsThatAnotherPartOutlastsAreNoReason) {
  DiagnosisInput in = one_word();
  in.contention_ns = 2304;  // as many atomics, on many words
  settle_time(in, 131072);
  EXPECT_THAT(causes(in), Not(testing::Contains("contended_atomics")));
  in = vector_add(110000);
  in.contention_ns = 0.99 * in.dram_ns;
  in.lines[0].atomics = 4096;
  settle_time(in, kIdealNs);
  EXPECT_THAT(causes(in), ElementsAre("latency"));
}

// At the barrier of line 30, the block waits for one thread, which loads six words at line 20, one after the other.
TEST(Diagnose, ABlockThatWaitsForTheLoadsOfOneThread) {
  DiagnosisInput in = vector_add(300000);
  const double loads = 6 * in.blocks;
  in.lines.push_back({.line = 20, .load_requests = loads, .l1_sectors = loads, .ideal_l1_sectors = loads});
  in.waiting = {{"barrier", "a barrier", 0.6, 30, {{"l2", 20, 0.9}, {"issued", 19, 0.1}}}, {"dram", "DRAM", 0.2, 7}};
  const Diagnosis found = diagnose(in).front();
  EXPECT_EQ(found.cause, "lone_thread");
  EXPECT_EQ(found.line, 20);
  EXPECT_THAT(found.text,
              HasSubstr("at the barrier (line 30) warps wait 60 % of their time for one thread, which loads "
                        "a word at line 20, waits for it, and loads the next: 6 times a block"));
  in.lines.back().load_requests = in.blocks;  // a block that waits for one load
  EXPECT_EQ(diagnose(in).front().cause, "barriers");
  in.lines.back().load_requests = loads, in.lines.back().l1_sectors = 4 * loads;  // whole warps load
  EXPECT_EQ(diagnose(in).front().cause, "barriers");
}

}  // namespace
}  // namespace roofwalk
