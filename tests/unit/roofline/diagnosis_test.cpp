#include "common/roofline/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/roofline/causes.h"
#include "common/roofline/facts.h"

namespace roofwalk {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double kPairs = 1 << 20;
constexpr double kIdealNs = 98304;  // time of 12 MiB at classroom's 128 GB/s
constexpr double kLaunchNs = 2500;

// Sets the time, and the gap, that follow from the parts.
void settle_time(DiagnosisInput& in, double ideal_ns) {
  in.elapsed_ns = std::max({in.dram_ns, in.l2_ns, in.l1_ns, in.shared_ns, in.constant_ns, in.issue_ns, in.flops_ns,
                            in.contention_ns}) +
                  in.latency_ns + in.launch_ns;
  in.vertical_gap = in.elapsed_ns / ideal_ns / std::max(1.0, in.horizontal_gap);
}

// Returns a coalesced vector add of 2^20 elements on classroom, with a grid that fills the GPU many times and
// `latency_ns` of waiting.
DiagnosisInput vector_add(double latency_ns) {
  DiagnosisInput in;
  in.useful_flops = in.executed_flops = kPairs;
  in.compulsory_bytes = in.dram_bytes = in.l1_bytes = in.l2_bytes = 12 * kPairs;
  in.observed_ai = in.algorithmic_ai = 1.0 / 12;
  in.ridge = 16;
  in.horizontal_gap = 1;
  in.dram_ns = kIdealNs;
  in.l2_ns = 44000;
  in.l1_ns = 12288;
  in.issue_ns = in.flops_ns = 16400;
  in.launch_ns = kLaunchNs;
  in.latency_ns = latency_ns;
  in.launches = in.streaming_kernels = 1;
  in.launch_line = 12;
  in.occupancy = 1;
  in.blocks = 4096;
  in.resident_blocks = 32;
  in.resident_blocks_per_sm = 4;
  in.branches = 32768;
  in.warp_instructions = 720896;
  in.thread_instructions = 32 * in.warp_instructions;
  in.lines = {{.line = 7,
               .load_requests = 65536,
               .store_requests = 32768,
               .l1_sectors = 393216,
               .ideal_l1_sectors = 393216,
               .dram_bytes = 12 * kPairs,
               .flops = kPairs,
               .warp_instructions = 720896}};
  in.waiting = {{"dram", "DRAM", 0.91, 7}, {"dependency", "the result of the instruction before", 0.04, 6}};
  settle_time(in, kIdealNs);
  return in;
}

std::vector<std::string> causes(const DiagnosisInput& in) {
  std::vector<std::string> names;
  for (const Diagnosis& diagnosis : diagnose(in)) names.push_back(diagnosis.cause);
  return names;
}

// Returns the diagnosis of an input that must have exactly one.
Diagnosis only(const DiagnosisInput& in) {
  const auto found = diagnose(in);
  EXPECT_EQ(found.size(), 1u) << testing::PrintToString(causes(in));
  return first_diagnosis(in, found);
}

TEST(Diagnose, AFullGridThatWaitsWantsMoreBytesInFlight) {
  const Diagnosis found = only(vector_add(110000));
  EXPECT_EQ(found.cause, "latency");
  EXPECT_EQ(found.line, 7);
  EXPECT_NEAR(found.share, 0.5, 0.05);
  EXPECT_THAT(found.text, HasSubstr("The dot is x2.14 too low: too few bytes are in flight"));
  EXPECT_THAT(found.text, HasSubstr("wait for DRAM 91 % of their time (line 7)"));
  EXPECT_THAT(found.text, HasSubstr("128-bit"));
}

TEST(Diagnose, NothingIsNamedCloseToTheRoof) {
  for (const double latency_ns : {0.0, 13000.0}) {
    const DiagnosisInput in = vector_add(latency_ns);
    EXPECT_THAT(causes(in), IsEmpty());
    const Diagnosis none = first_diagnosis(in, {});
    EXPECT_EQ(none.cause, "none");
    EXPECT_THAT(none.text, HasSubstr(latency_ns > 0 ? "86 % of the memory roof" : "98 % of the memory roof"));
    EXPECT_THAT(none.text, HasSubstr(latency_ns > 0 ? "float4" : "well placed"));
  }
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

TEST(Diagnose, ScatteredAccessesExplainTheBytesTheyCost) {
  DiagnosisInput in = vector_add(0);
  in.lines[0].l1_sectors *= 8;
  in.dram_bytes *= 8, in.dram_ns *= 8, in.l2_bytes *= 6, in.l2_ns *= 6, in.l1_bytes *= 8, in.l1_ns *= 8;
  in.observed_ai /= 8;
  in.horizontal_gap = 8;
  settle_time(in, kIdealNs);
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "over_fetch");
  EXPECT_EQ(found.line, 7);
  EXPECT_NEAR(found.share, 7.0 / 8, 0.02);
  EXPECT_THAT(found.text,
              HasSubstr("The dot is x8 too far left: line 7 asks for 32 sectors an access on average where 4 would"));
}

// Eight stores of four bytes fill each sector, so L1 moves it eight times, and DRAM once.
TEST(Diagnose, SectorsThatAreUsedPartByPartCostNothingAtDram) {
  DiagnosisInput in = vector_add(0);
  in.lines[0].l1_sectors *= 8, in.l1_bytes *= 8, in.l1_ns *= 8;
  EXPECT_THAT(causes(in), IsEmpty());
  in.dram_bytes *= 4, in.dram_ns *= 4, in.l2_bytes *= 4, in.observed_ai /= 4;  // four sweeps over the same arrays
  in.lines[0].l1_sectors *= 4, in.lines[0].ideal_l1_sectors *= 4, in.l1_bytes *= 4;
  in.horizontal_gap = 4;
  settle_time(in, kIdealNs);
  EXPECT_THAT(causes(in), ElementsAre("no_reuse"));
}

TEST(Diagnose, FieldsOfStructsAreCalledSo) {
  DiagnosisInput in = vector_add(0);
  in.lines[0].l1_sectors *= 8, in.lines[0].l1_lines = in.lines[0].l1_sectors / 4;
  in.l1_bytes *= 8, in.l1_ns *= 16;
  settle_time(in, kIdealNs);
  EXPECT_THAT(only(in).text,
              HasSubstr("the words of neighbouring threads lie some words apart, as a field of structs"));
  in.lines[0].l1_lines = in.lines[0].l1_sectors;  // each thread its own line
  EXPECT_THAT(only(in).text, HasSubstr("the threads of a warp touch addresses far apart"));
}

TEST(Diagnose, AScatteredStoreIsNoReasonToWaitForLoads) {
  DiagnosisInput in = vector_add(110000);
  in.lines.push_back({.line = 20, .store_requests = 65536, .l1_sectors = 2e6, .ideal_l1_sectors = 262144});
  EXPECT_THAT(causes(in), ElementsAre("latency"));
  in.lines[0].l1_sectors *= 8;
  EXPECT_THAT(causes(in), ElementsAre("over_fetch"));
}

// Returns a kernel that moves eight times the bytes but uses all of each sector: it requests the same data repeatedly.
DiagnosisInput redundant() {
  DiagnosisInput in = vector_add(0);
  in.dram_bytes *= 8, in.dram_ns *= 8, in.l2_bytes *= 8, in.l2_ns *= 8, in.l1_bytes *= 8, in.l1_ns *= 8;
  in.observed_ai /= 8;
  in.horizontal_gap = 8;
  settle_time(in, kIdealNs);
  return in;
}

TEST(Diagnose, RedundantBytesAreToldApart) {
  DiagnosisInput in = redundant();
  const Diagnosis between = only(in);
  EXPECT_EQ(between.cause, "redundant_loads");
  EXPECT_THAT(between.text, HasSubstr("The dot is x8 too far left: DRAM moves 101 MB for 12.6 MB of data"));
  EXPECT_THAT(between.text, HasSubstr("from another block or from the same one"));
  in.streaming_kernels = in.launches = 5;
  const Diagnosis unfused = only(in);
  EXPECT_EQ(unfused.cause, "unfused");
  EXPECT_THAT(unfused.text, HasSubstr("5 kernels pass whole arrays on"));
  in.streaming_kernels = 1;
  in.chained_kernels = 2;  // one kernel requests again what its caches hold
  EXPECT_THAT(only(in).text, HasSubstr("2 kernels pass whole arrays on"));
  in.chained_kernels = 0;
  in.l1_bytes *= 10;
  const Diagnosis within = only(in);
  EXPECT_EQ(within.cause, "no_reuse");
  EXPECT_THAT(within.text, HasSubstr("shared memory"));
}

TEST(Diagnose, WaitingForRedundantBytesIsCuredWithThem) {
  DiagnosisInput in = redundant();
  in.streaming_kernels = 0;
  in.l1_bytes *= 10;
  in.latency_ns = in.dram_ns;
  settle_time(in, kIdealNs);
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "no_reuse");
  EXPECT_GT(found.share, 0.9);
  in.latency_ns = 3 * in.dram_ns;  // the kernel does not wait for these bytes
  settle_time(in, kIdealNs);
  EXPECT_THAT(causes(in), ElementsAre("latency", "no_reuse"));
}

TEST(Diagnose, OneLaunchOrMany) {
  DiagnosisInput in = vector_add(60000);
  in.launches = 64;
  in.launch_ns = 64 * kLaunchNs;
  settle_time(in, kIdealNs);
  const Diagnosis many = only(in);
  EXPECT_EQ(many.cause, "launch_bound");
  EXPECT_EQ(many.line, 12);
  EXPECT_THAT(many.text, HasSubstr("64 launches take 160 us"));
  DiagnosisInput tiny = vector_add(800);
  tiny.dram_ns = 1000;
  tiny.l2_ns = tiny.l1_ns = tiny.issue_ns = tiny.flops_ns = 500;
  tiny.blocks = 4;
  settle_time(tiny, 1000);
  const Diagnosis one = only(tiny);
  EXPECT_EQ(one.cause, "launch_bound");
  EXPECT_THAT(one.text, HasSubstr("the launch alone takes 2.5 us of the 4.3 us"));
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

TEST(Diagnose, SharedMemoryWithAndWithoutConflicts) {
  DiagnosisInput in = vector_add(20000);
  in.shared_ns = 900000;
  in.shared_wavefronts = 1e6;
  in.shared_bank_conflicts = 0.9e6;
  in.lines.push_back({.line = 22, .shared_wavefronts = 1e6, .shared_bank_conflicts = 0.9e6});
  settle_time(in, kIdealNs);
  const Diagnosis conflicts = only(in);
  EXPECT_EQ(conflicts.cause, "bank_conflicts");
  EXPECT_EQ(conflicts.line, 22);
  EXPECT_THAT(conflicts.text, HasSubstr("90 %"));
  EXPECT_THAT(conflicts.text, HasSubstr("by four for float4"));
  in.shared_bank_conflicts = 0;
  const Diagnosis traffic = only(in);
  EXPECT_EQ(traffic.cause, "shared_traffic");
  EXPECT_EQ(traffic.line, 22);
  EXPECT_THAT(traffic.text, HasSubstr("1/r + 1/s"));
}

TEST(Diagnose, ConstantsThatLanesDifferIn) {
  DiagnosisInput in = vector_add(20000);
  in.constant_ns = 900000;
  in.constant_requests = 2e6;
  in.constant_passes = 3.3e7;
  in.lines.push_back({.line = 23, .constant_requests = 1e6, .constant_passes = 1e6});
  in.lines.push_back({.line = 24, .constant_requests = 1e6, .constant_passes = 3.2e7});
  settle_time(in, kIdealNs);
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "divergent_constants");
  EXPECT_EQ(found.line, 24);
  EXPECT_THAT(found.text, HasSubstr("read 32 different words of constant memory at once: 32 passes (line 24)"));
  EXPECT_EQ(found.brief, "32 words of constant memory a load: 32 passes");
  EXPECT_EQ(found.figure, "passes");
  // All lanes load the same word, one pass per load, so only the number of loads can be reduced.
  in.constant_passes = in.constant_requests;
  EXPECT_EQ(only(in).cause, "instruction_bound");
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

// Returns a kernel whose instructions take 600 us to issue.
DiagnosisInput busy() {
  DiagnosisInput in = vector_add(5000);
  in.issue_ns = in.flops_ns = 600000;
  in.warp_instructions = 2e7;
  in.thread_instructions = 32 * in.warp_instructions;
  settle_time(in, kIdealNs);
  return in;
}

TEST(Diagnose, Divergence) {
  DiagnosisInput in = busy();
  in.branches = 10000;
  in.divergent_branches = 5000;
  in.thread_instructions = 4 * in.warp_instructions;
  in.lines[0].divergent_branches = 5000;
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "divergence");
  EXPECT_EQ(found.line, 7);
  EXPECT_THAT(found.text, HasSubstr("50 % of the branches split their warp"));
  EXPECT_THAT(found.text, HasSubstr("4 of 32 lanes"));
  in.thread_instructions = 28 * in.warp_instructions;  // branches diverge, but almost no lanes are inactive
  EXPECT_THAT(causes(in), ElementsAre("instruction_bound"));
}

// Each of 64 blocks computes and stores all results. The data comes from L2, so waits are short, and the repeated work
// is the only cause.
TEST(Diagnose, WorkThatIsDoneAgainIsNothingElse) {
  DiagnosisInput in = vector_add(0);
  in.blocks = 64;
  in.executed_flops *= 64, in.issue_ns *= 64, in.flops_ns *= 64;
  in.dram_bytes *= 2, in.dram_ns *= 2, in.l2_bytes *= 64, in.l2_ns *= 64, in.l1_bytes *= 64, in.l1_ns *= 64;
  in.dram_write_bytes = 4 * kPairs;
  in.global_write_bytes = 64 * in.dram_write_bytes;
  in.latency_ns = 2e6;
  in.horizontal_gap = 2, in.observed_ai /= 2;
  settle_time(in, kIdealNs);
  const Diagnosis all = only(in);
  EXPECT_EQ(all.cause, "executed_over_useful");
  EXPECT_EQ(all.line, 7);
  EXPECT_THAT(all.text, HasSubstr("every block does all the elements: 64 blocks execute 64 FLOPs for each useful one"));
  EXPECT_THAT(all.text, HasSubstr("blockIdx is missing in the index (line 7)"));
  in.blocks = 4096;
  EXPECT_THAT(only(in).text, HasSubstr("each result is computed 64 times over and stored each time (line 7)"));
  in.global_write_bytes = in.dram_write_bytes;  // now recomputed where needed, without duplicate stores
  EXPECT_EQ(repeats_of_work(in), 1);
  in.global_write_bytes = 8 * in.dram_write_bytes;
  EXPECT_GT(repeats_of_work(in), 1);
  in.lines[0].store_requests = in.global_write_bytes / 32;  // now one thread of each warp stores, a word each
  EXPECT_EQ(repeats_of_work(in), 1);
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

// Each result is loaded, added to and stored 64 times.
TEST(Diagnose, ASumThatLivesInMemory) {
  DiagnosisInput in = vector_add(2e6);
  in.dram_write_bytes = 4 * kPairs;
  in.global_write_bytes = 64 * in.dram_write_bytes;
  in.waiting = {{"dram", "DRAM", 0.9, 7}};
  settle_time(in, kIdealNs);
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "sum_in_memory");
  EXPECT_EQ(found.line, 7);
  EXPECT_THAT(found.text, HasSubstr("each result is written to memory 64 times (line 7)"));
  DiagnosisInput summed = in;  // many values are added up before each store, as in a block's histogram
  summed.lines.push_back({.line = 5, .load_requests = 40 * summed.lines[0].store_requests});
  EXPECT_EQ(only(summed).cause, "latency");
  in.global_write_bytes = 2 * in.dram_write_bytes;  // the output is written in two passes
  EXPECT_EQ(only(in).cause, "latency");
  in.global_write_bytes = 8 * in.dram_write_bytes;  // scattered: a sector for each float
  in.lines[0].l1_sectors *= 8;
  EXPECT_EQ(times_stored(in), 1);
}

TEST(Diagnose, ArithmeticThatNobodyAskedFor) {
  DiagnosisInput in = busy();
  in.executed_flops = 64 * in.warp_instructions;
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "executed_over_useful");
  EXPECT_THAT(found.text, HasSubstr("1221 FLOPs for each useful one"));
}

TEST(Diagnose, InstructionsThatAreNoArithmetic) {
  const Diagnosis found = only(busy());
  EXPECT_EQ(found.cause, "instruction_bound");
  EXPECT_THAT(found.text,
              HasSubstr("20 M warp instructions, where the FLOPs that the algorithm needs are 16.4 k fused"));
}

TEST(Diagnose, TheLineOfInstructionsThatAreNoArithmetic) {
  DiagnosisInput in = busy();
  in.lines = {{.line = 8, .flops = 64 * 9e6, .warp_instructions = 9e6}, {.line = 9, .warp_instructions = 5e6}};
  EXPECT_EQ(only(in).line, 9);
}

TEST(Diagnose, ArithmeticThatTakesLongerThanItMust) {
  DiagnosisInput in = busy();
  in.issue_ns = 90000;
  in.useful_flops = in.executed_flops = 32 * in.warp_instructions;  // no FMAs
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "fp_bound");
  EXPECT_THAT(found.text, HasSubstr("fused multiply-adds"));
}

TEST(Diagnose, SpillsAreSaidThoughTheTimeLacksTheirBytes) {
  DiagnosisInput in = vector_add(0);
  in.spilled_bytes_per_thread = 320;
  in.spill_ns = 5000;
  EXPECT_THAT(causes(in), IsEmpty());
  in.spill_ns = 100000;
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "spills");
  EXPECT_THAT(found.text, HasSubstr("320 bytes of each thread"));
  EXPECT_THAT(found.text, HasSubstr("but not their bytes"));
}

TEST(Diagnose, SpillsComeFirstWhereMuchIsWrong) {
  DiagnosisInput in = vector_add(3e6);
  in.blocks = 1;
  in.spilled_bytes_per_thread = 8;  // two values, spilled once
  in.spill_ns = 100;
  EXPECT_THAT(causes(in), ElementsAre("few_blocks"));
  in.spilled_bytes_per_thread = 320;  // in a loop, values may be spilled in each iteration
  EXPECT_THAT(causes(in), ElementsAre("spills", "few_blocks"));
}

TEST(Diagnose, ArraysInLocalMemoryCostTheBytesTheyMove) {
  DiagnosisInput in = redundant();
  in.local_bytes = in.l1_bytes * 7 / 8;
  in.lines.push_back({.line = 11, .local_sectors = in.local_bytes / 32});
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "spills");
  EXPECT_EQ(found.line, 11);
  EXPECT_NEAR(found.share, 7.0 / 8, 0.02);
  EXPECT_THAT(found.text, HasSubstr("88 % of the 101 MB at L1 are local memory"));
}

TEST(Diagnose, AnImpossibleDotIsNothingElse) {
  DiagnosisInput in = vector_add(110000);
  in.is_impossible = true;
  in.vertical_gap = 0.5;
  EXPECT_EQ(only(in).cause, "over_roof");
  EXPECT_THAT(only(in).text, HasSubstr("100 % above its roof"));
  in.dram_bytes /= 2;
  EXPECT_THAT(only(in).text, HasSubstr("6.29 MB were moved where 12.6 MB are compulsory"));
  in.executed_flops /= 2;
  EXPECT_THAT(only(in).text, HasSubstr("work that was not done"));
  in.least_flops = 0.6 * in.useful_flops;
  EXPECT_THAT(only(in).text,
              HasSubstr("where the algorithm has 1.05 MFLOP, or by algebra no fewer than 629 kFLOP, so"));
  in.least_flops = in.executed_flops;
  EXPECT_THAT(only(in).text, HasSubstr("6.29 MB were moved where 12.6 MB are compulsory"));
}

TEST(Diagnose, AWrongAnswerInHalfPrecision) {
  DiagnosisInput in;
  EXPECT_THAT(causes(in), IsEmpty());
  in.looks_like_half = true;
  in.suspect_line = 8;
  const Diagnosis found = only(in);
  EXPECT_EQ(found.cause, "low_precision");
  EXPECT_EQ(found.line, 8);
}

// The figures of naive-gemm's starter, which is 17 ms busy at L1. It loads 16.5 sectors per request, and even if
// loads were coalesced, many threads would load the same value.
TEST(Diagnose, TwoDiseasesAreRankedByWhatTheirCureSaves) {
  DiagnosisInput in = vector_add(0);
  in.useful_flops = in.executed_flops = 268435456;
  in.compulsory_bytes = 3145728;
  in.dram_bytes = 35.7e6, in.l2_bytes = 78.8e6, in.l1_bytes = 4.44e9;
  in.dram_ns = 278500, in.l2_ns = 275000, in.l1_ns = 17334300, in.issue_ns = 615700, in.flops_ns = 283100;
  in.observed_ai = 7.53, in.algorithmic_ai = 85.3, in.horizontal_gap = 11.3;
  in.streaming_kernels = 0;
  in.lines = {{.line = 17,
               .load_requests = 8388608,
               .l1_sectors = 138412032,
               .l1_lines = 134217728,
               .ideal_l1_sectors = 33554432}};
  in.elapsed_ns = 17336800;
  in.vertical_gap = 62.3;
  const auto found = diagnose(in);
  ASSERT_THAT(causes(in), ElementsAre("over_fetch", "no_reuse"));
  EXPECT_THAT(found[0].text,
              HasSubstr("The dot is x62.3 too low, about x4.1 of it for one reason: line 17 asks for 16.5 "
                        "sectors a load on average where 4"));
  EXPECT_THAT(found[0].text, HasSubstr("L1 is busy 100 % of the time, answering 16 lines a load."));
  EXPECT_NEAR(found[0].share, 0.76, 0.01);
  EXPECT_NEAR(found[0].share + found[1].share, 1, 0.05);  // the shares do not overlap
  EXPECT_EQ(first_diagnosis(in, found).text, found[0].text);
}

// A real GPU reports counts and a time, but no parts of the time.
TEST(Diagnose, WorksWithoutModelledParts) {
  DiagnosisInput in = vector_add(110000);
  in.dram_ns = in.l2_ns = in.l1_ns = in.shared_ns = in.issue_ns = in.flops_ns = in.latency_ns = in.launch_ns = 0;
  in.waiting.clear();
  EXPECT_THAT(causes(in), ElementsAre("latency"));
  in.occupancy = 0.25;
  EXPECT_THAT(causes(in), ElementsAre("low_occupancy"));
  in.l1_bytes = 40 * in.compulsory_bytes;
  EXPECT_THAT(causes(in), ElementsAre("no_reuse"));
  in.executed_flops = 10 * in.useful_flops;
  EXPECT_THAT(causes(in), ElementsAre("executed_over_useful"));
  in.divergent_branches = in.branches;
  EXPECT_THAT(causes(in), ElementsAre("executed_over_useful"));  // branches diverge, but no lanes are inactive
  in.thread_instructions /= 2;
  EXPECT_THAT(causes(in), ElementsAre("divergence"));
  in.constant_requests = 10, in.constant_passes = 100;
  EXPECT_THAT(causes(in), ElementsAre("divergent_constants"));
  in.shared_wavefronts = 100, in.shared_bank_conflicts = 50;
  EXPECT_THAT(causes(in), ElementsAre("bank_conflicts"));
  in.lines[0].l1_sectors *= 8;
  EXPECT_THAT(causes(in), ElementsAre("over_fetch"));
  in.blocks = 1;
  EXPECT_THAT(causes(in), ElementsAre("few_blocks"));
}

TEST(DiagnosisCauses, AreDifferentAndNoneIsNotOne) {
  const std::set<std::string_view> all(diagnosis_causes().begin(), diagnosis_causes().end());
  EXPECT_EQ(all.size(), diagnosis_causes().size());
  EXPECT_EQ(all.count("none"), 0u);
}

TEST(DiagnosisCauses, HaveTheNamesOfTheirFiles) {
  const std::filesystem::path folder = std::filesystem::path(TEST_SOURCE_DIR) / "common/roofline/causes";
  for (const std::string_view id : diagnosis_causes()) {
    EXPECT_TRUE(exists(folder / (std::string(id) + ".cpp"))) << id;
  }
}

TEST(DiagnosisCauses, HaveWordsForWhatTheyMayLose) {
  for (const Cause* cause : causes_in_order()) {
    const bool may_lose = cause->claim || cause->is_behind_wait || cause->evidence;
    EXPECT_EQ(may_lose, cause->explain != nullptr) << cause->id;
  }
}

TEST(DiagnosisCauses, AreFoundByTheirIds) {
  EXPECT_EQ(find_cause("over_fetch"), &cause::over_fetch);
  EXPECT_EQ(find_cause("none"), nullptr);
}

TEST(DiagnoseCounts, NamesWhatGoalsAboutCountsAreMissedFor) {
  DiagnosisInput in;
  EXPECT_TRUE(diagnose_counts(in).empty());
  in.shared_wavefronts = 100, in.shared_bank_conflicts = 10;  // too few to cost much
  in.lines.push_back({.line = 22, .shared_wavefronts = 100, .shared_bank_conflicts = 10});
  in.useful_flops = 100, in.executed_flops = 110;
  in.occupancy = 0.75;
  const std::vector<Diagnosis> found = diagnose_counts(in);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].cause, "bank_conflicts");
  EXPECT_EQ(found[0].line, 22);
  EXPECT_EQ(found[1].cause, "executed_over_useful");
  EXPECT_EQ(found[2].cause, "low_occupancy");
}

}  // namespace
}  // namespace roofwalk
