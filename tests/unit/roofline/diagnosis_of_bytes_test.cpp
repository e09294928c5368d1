// Diagnoses of bytes that a kernel moves too many, or too slowly: at DRAM, L2 and L1, in shared memory, as constants.
#include <gmock/gmock.h>

#include "tests/unit/roofline/diagnosis_inputs.h"

namespace roofwalk {
namespace {

using test::causes;
using test::kIdealNs;
using test::kLaunchNs;
using test::kPairs;
using test::only;
using test::settle_time;
using test::vector_add;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

}  // namespace
}  // namespace roofwalk
