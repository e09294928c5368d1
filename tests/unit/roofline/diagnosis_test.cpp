#include "common/roofline/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace roofwalk {
namespace {

using testing::HasSubstr;

constexpr double kPairs = 1 << 20;

// Vector add of 2^20 elements on classroom, coalesced, a grid that fills the machine many times.
DiagnosisInput vector_add() {
  DiagnosisInput in;
  in.useful_flops = in.executed_flops = kPairs;
  in.compulsory_bytes = in.dram_bytes = in.l1_bytes = in.l2_bytes = 12 * kPairs;
  in.observed_ai = in.algorithmic_ai = 1.0 / 12;
  in.ridge = 16;
  in.horizontal_gap = 1;
  in.dram_ns = 98304;
  in.l2_ns = 30000;
  in.l1_ns = 12288;
  in.issue_ns = 9000;
  in.flops_ns = 1024;
  in.launch_ns = 2500;
  in.occupancy = 1;
  in.blocks = 4096;
  in.resident_blocks = 32;
  in.lines = {{.line = 7,
               .load_requests = 65536,
               .store_requests = 32768,
               .l1_sectors = 393216,
               .ideal_l1_sectors = 393216,
               .dram_bytes = 12 * kPairs}};
  return in;
}

void set_latency(DiagnosisInput& in, double latency_ns) {
  in.latency_ns = latency_ns;
  in.elapsed_ns = std::max({in.dram_ns, in.l1_ns, in.shared_ns, in.issue_ns, in.flops_ns, latency_ns}) + in.launch_ns;
  in.vertical_gap = in.elapsed_ns / 98304;
}

// A 512-cubed GEMM on classroom, judged at L1: rows on threadIdx.x, or columns.
DiagnosisInput gemm(bool coalesced) {
  DiagnosisInput in;
  in.useful_flops = in.executed_flops = 268435456;
  in.compulsory_bytes = 3145728;
  in.dram_bytes = 4e6;
  in.l2_bytes = 2e8;
  const double requests = 512.0 * 512 * 512 / 32;  // of a warp, to A and to B alike
  const double a_sectors = requests * (coalesced ? 1 : 32), b_sectors = requests * (coalesced ? 4 : 1);
  in.l1_bytes = 32 * (a_sectors + b_sectors);
  in.observed_ai = in.useful_flops / in.l1_bytes;
  in.algorithmic_ai = 85.3;
  in.horizontal_gap = in.algorithmic_ai / in.observed_ai;
  in.ridge = 2;
  in.dram_ns = 31000;
  in.l2_ns = 400000;
  in.l1_ns = coalesced ? 1048576 : 17301504;
  in.issue_ns = 524288;
  in.flops_ns = 131072;
  in.latency_ns = 900000;
  in.elapsed_ns = in.l1_ns + 2500;
  in.vertical_gap = 1.6;
  in.launch_ns = 2500;
  in.occupancy = 1;
  in.blocks = 1024;
  in.resident_blocks = 32;
  in.lines = {{.line = 14, .load_requests = requests, .l1_sectors = a_sectors, .ideal_l1_sectors = 4 * requests},
              {.line = 15, .load_requests = requests, .l1_sectors = b_sectors, .ideal_l1_sectors = 4 * requests},
              {.line = 17, .store_requests = 8192, .l1_sectors = 32768, .ideal_l1_sectors = 32768}};
  return in;
}

// A kernel with nothing wrong but what its test breaks: tiled, right of the ridge, four times below the compute roof.
DiagnosisInput tiled() {
  DiagnosisInput in = gemm(true);
  in.l1_bytes = in.l2_bytes = in.dram_bytes = in.compulsory_bytes;
  in.lines.clear();
  in.observed_ai = in.algorithmic_ai;
  in.horizontal_gap = 1;
  in.vertical_gap = 4;
  in.l1_ns = in.l2_ns = in.latency_ns = 20000;
  in.elapsed_ns = 526788;
  in.branches = 10000;
  in.shared_wavefronts = 1e6;
  return in;
}

TEST(Diagnose, VectorAddStarterHasTooFewBlocks) {
  DiagnosisInput in = vector_add();
  in.blocks = 1;
  set_latency(in, 1900000);
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "few_blocks");
  EXPECT_THAT(found.text, HasSubstr("1 block where 32 fit"));
  EXPECT_THAT(found.text, HasSubstr("Launch more blocks"));
}

TEST(Diagnose, VectorAddPlainGridWantsMoreBytesInFlight) {
  DiagnosisInput in = vector_add();
  set_latency(in, 131072);
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "latency");
  EXPECT_THAT(found.text, HasSubstr("waiting takes 131 us, moving the bytes 98.3 us"));
  EXPECT_THAT(found.text, HasSubstr("128-bit"));
}

TEST(Diagnose, VectorAddPlainGridCloseToTheRoofHearsOfWideAccesses) {
  DiagnosisInput in = vector_add();
  set_latency(in, 50000);
  in.vertical_gap = 1.2;
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "near_roof");
  EXPECT_THAT(found.text, HasSubstr("83 %"));
  EXPECT_THAT(found.text, HasSubstr("128-bit"));
}

TEST(Diagnose, VectorAddContiguousChunksOverFetch) {
  DiagnosisInput in = vector_add();
  in.lines[0].l1_sectors = 8 * in.lines[0].ideal_l1_sectors;
  in.dram_bytes *= 2;
  in.dram_ns *= 2;
  in.observed_ai /= 2;
  in.horizontal_gap = 2;
  set_latency(in, 400000);
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "over_fetch");
  EXPECT_EQ(found.line, 7);
  EXPECT_THAT(found.text, HasSubstr("32 sectors an access where 4 would do"));
}

TEST(Diagnose, VectorAddLastStepIsWellPlaced) {
  DiagnosisInput in = vector_add();
  set_latency(in, 20000);
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "none");
  EXPECT_THAT(found.text, HasSubstr("98 % of the memory roof"));
}

TEST(Diagnose, NaiveGemmStarterOverFetchesA) {
  const Diagnosis found = diagnose(gemm(false));
  EXPECT_EQ(found.cause, "over_fetch");
  EXPECT_EQ(found.line, 14);
  EXPECT_THAT(found.text, HasSubstr("Line 14 asks for 32 sectors a load where 4 would do"));
  EXPECT_THAT(found.text, HasSubstr("threadIdx.x"));
}

TEST(Diagnose, OverFetchNamesTheLineWithTheMostExcess) {
  DiagnosisInput in = gemm(false);
  std::swap(in.lines[0].line, in.lines[1].line);
  std::swap(in.lines[0], in.lines[1]);
  EXPECT_EQ(diagnose(in).line, 15);
}

TEST(Diagnose, OneBlockOfContiguousChunksHearsOfItsBlocksFirst) {
  DiagnosisInput in = vector_add();
  in.blocks = 1;
  in.lines[0].l1_sectors = 8 * in.lines[0].ideal_l1_sectors;
  set_latency(in, 1900000);
  EXPECT_EQ(diagnose(in).cause, "few_blocks");
}

TEST(Diagnose, OverFetchIsFoundWhereA_AndB_ShareALine) {
  DiagnosisInput in = gemm(false);
  in.lines[0].load_requests += in.lines[1].load_requests;
  in.lines[0].l1_sectors += in.lines[1].l1_sectors;
  in.lines[0].ideal_l1_sectors += in.lines[1].ideal_l1_sectors;
  in.lines.erase(in.lines.begin() + 1);
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "over_fetch");
  EXPECT_THAT(found.text, HasSubstr("16.5 sectors a load"));
}

TEST(Diagnose, NaiveGemmCoalescedLacksReuse) {
  for (const double latency_ns : {0.0, 900000.0, 1500000.0}) {
    DiagnosisInput in = gemm(true);
    in.latency_ns = latency_ns;
    const Diagnosis found = diagnose(in);
    EXPECT_EQ(found.cause, "no_reuse") << latency_ns;
    EXPECT_EQ(found.line, 15);
    EXPECT_THAT(found.text, HasSubstr("L1 moves 671 MB for 3.15 MB of data, each byte 213 times"));
    EXPECT_THAT(found.text, HasSubstr("shared memory"));
  }
}

// At DRAM the same GEMMs lie right of the ridge, far below the compute roof: the causes stay the same.
TEST(Diagnose, NaiveGemmJudgedAtDram) {
  for (const bool coalesced : {false, true}) {
    DiagnosisInput in = gemm(coalesced);
    in.observed_ai = 67;
    in.ridge = 16;
    in.horizontal_gap = 1.27;
    in.vertical_gap = coalesced ? 8 : 130;
    EXPECT_EQ(diagnose(in).cause, coalesced ? "no_reuse" : "over_fetch");
  }
}

TEST(Diagnose, RereadsOfDramNameLargerTiles) {
  DiagnosisInput in = tiled();
  in.dram_ns = 600000;
  in.dram_bytes = 8 * in.compulsory_bytes;
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "no_reuse");
  EXPECT_THAT(found.text, HasSubstr("DRAM moves"));
  EXPECT_THAT(found.text, HasSubstr("larger tiles"));
}

TEST(Diagnose, TinyKernelIsBoundByItsLaunch) {
  DiagnosisInput in = vector_add();
  in.dram_ns = 1000;
  set_latency(in, 1800);
  in.l2_ns = in.l1_ns = in.issue_ns = 500;
  in.elapsed_ns = 4300;
  in.vertical_gap = 4.3;
  in.blocks = 4;
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "launch_bound");
  EXPECT_THAT(found.text, HasSubstr("2.5 us of the 4.3 us"));
}

TEST(Diagnose, BankConflictsNameTheirLine) {
  DiagnosisInput in = tiled();
  in.shared_ns = 900000;
  in.shared_bank_conflicts = 0.75e6;
  in.lines = {{.line = 21, .shared_bank_conflicts = 1e5}, {.line = 22, .shared_bank_conflicts = 6e5}};
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "bank_conflicts");
  EXPECT_EQ(found.line, 22);
  EXPECT_THAT(found.text, HasSubstr("75 %"));
  EXPECT_THAT(found.text, HasSubstr("Pad"));
}

TEST(Diagnose, SharedMemoryWithoutConflictsWantsRegisters) {
  DiagnosisInput in = tiled();
  in.shared_ns = 900000;
  EXPECT_EQ(diagnose(in).cause, "shared_traffic");
}

TEST(Diagnose, Divergence) {
  DiagnosisInput in = tiled();
  in.divergent_branches = 5000;
  in.lines = {{.line = 9, .divergent_branches = 5000}};
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "divergence");
  EXPECT_EQ(found.line, 9);
  EXPECT_THAT(found.text, HasSubstr("50 % of the branches"));
}

TEST(Diagnose, ExtraArithmetic) {
  DiagnosisInput in = tiled();
  in.executed_flops = 3 * in.useful_flops;
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "executed_over_useful");
  EXPECT_THAT(found.text, HasSubstr("3 FLOPs for each useful one"));
}

TEST(Diagnose, LowOccupancyIsTheReasonForWaiting) {
  DiagnosisInput in = tiled();
  in.latency_ns = 2e6;
  in.occupancy = 0.125;
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "low_occupancy");
  EXPECT_THAT(found.text, HasSubstr("12 %"));
}

TEST(Diagnose, IssueAndArithmeticArePipesOfTheirOwn) {
  DiagnosisInput in = tiled();
  EXPECT_EQ(diagnose(in).cause, "instruction_bound");
  in.flops_ns = 1e6;
  EXPECT_EQ(diagnose(in).cause, "fp_bound");
}

TEST(Diagnose, OnTheComputeRoofIsWellPlaced) {
  DiagnosisInput in = tiled();
  in.vertical_gap = 1.05;
  const Diagnosis found = diagnose(in);
  EXPECT_EQ(found.cause, "none");
  EXPECT_THAT(found.text, HasSubstr("95 % of the compute roof"));
}

// A real GPU reports counts and a time, but no parts of it.
TEST(Diagnose, WorksWithoutModelledParts) {
  DiagnosisInput starter = gemm(false), coalesced = gemm(true), plain = vector_add();
  set_latency(plain, 200000);
  for (DiagnosisInput* in : {&starter, &coalesced, &plain}) {
    in->dram_ns = in->l2_ns = in->l1_ns = in->issue_ns = in->flops_ns = in->latency_ns = in->launch_ns = 0;
  }
  EXPECT_EQ(diagnose(starter).cause, "over_fetch");
  EXPECT_EQ(diagnose(coalesced).cause, "no_reuse");
  EXPECT_EQ(diagnose(plain).cause, "latency");
  plain.blocks = 1;
  EXPECT_EQ(diagnose(plain).cause, "few_blocks");
}

}  // namespace
}  // namespace roofwalk
