// Diagnoses of instructions and arithmetic, how several diagnoses go together, and the table of causes.
#include "common/roofline/diagnosis.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/roofline/causes.h"
#include "common/roofline/facts.h"
#include "tests/unit/roofline/diagnosis_inputs.h"

namespace roofwalk {
namespace {

using test::causes;
using test::kIdealNs;
using test::kPairs;
using test::only;
using test::settle_time;
using test::vector_add;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  in.lines[0].arrival_conflicts = 50;
  EXPECT_THAT(causes(in), ElementsAre("arrivals"));
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
