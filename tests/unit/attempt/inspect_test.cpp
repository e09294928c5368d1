#include "grader/attempt/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/records.h"

namespace roofwalk {
namespace {

using namespace roofwalk::testing;
using ::testing::HasSubstr;

Finding inspect_record(const RunRecord& record, const std::string& source) {
  const Roofs roofs = roofs_of(test_machine());
  return inspect(record, measure(record, vector_add_work(), roofs), test_machine(), roofs, source);
}

TEST(SourceLine, IsTrimmedAndMayBeMissing) {
  EXPECT_EQ(source_line("a\n  b;\t\r\nc", 2), "b;");
  EXPECT_EQ(source_line("a\n  b;\t\r\nc", 3), "c");
  EXPECT_EQ(source_line("a", 2), "");
  EXPECT_EQ(source_line("a", 0), "");
}

TEST(Inspect, NamesTheLineThatMovesMostBytes) {
  RunRecord record = vector_add_record();
  LineCounters other{3, {}};
  other.counters.set(Counter::dram_read_bytes, 100);
  record.kernels[0].lines.insert(record.kernels[0].lines.begin(), other);
  const Finding finding = inspect_record(record, std::string(9, '\n') + "  c[i] = 0;\n");
  EXPECT_EQ(finding.traffic_line, 10);
  EXPECT_EQ(finding.traffic_source, "c[i] = 0;");
}

TEST(Inspect, SpillsBeyondTheCachesAreBytesThatNobodyCounted) {
  Machine machine = test_machine();
  machine.l1_bytes = 192 << 10;
  machine.l2_bytes = 768 << 10;  // with eight SMs' L1, 288 bytes for each thread at work
  RunRecord record = vector_add_record();
  const auto found = [&](std::uint64_t spilled, std::uint64_t blocks) {
    record.kernels[0].spilled_bytes_per_thread = spilled;
    record.kernels[0].grid.x = static_cast<std::uint32_t>(blocks);
    const Measurement m = measure(record, vector_add_work(), roofs_of(test_machine()));
    return uncounted_spills(record, m, machine).value_or("");
  };
  EXPECT_EQ(found(0, 4096), "");
  EXPECT_EQ(found(288, 4096), "") << "all of it fits in the caches";
  EXPECT_EQ(found(290, 4096), "");  // 4 MB of 12.6
  EXPECT_THAT(found(294, 4096), HasSubstr("6.29 MB that go to DRAM and back"));
  EXPECT_EQ(found(100'000, 0), "");
  EXPECT_EQ(found(768, 11), "");  // all of the grid's fit
  EXPECT_THAT(found(576, 4096), HasSubstr("576 bytes a thread spill, 302 MB that go to DRAM and back"));
  machine.l1_bytes = machine.l2_bytes = 0;
  EXPECT_EQ(found(252, 4096), "") << "as called functions save";
  EXPECT_NE(found(256, 4096), "");
}

// What is said about a kernel whose only bank conflicts are on line 1.
std::vector<std::string> of_conflicts_on(const std::string& source) {
  RunRecord record = vector_add_record();
  LineCounters line{1, {}};
  line.counters.set(Counter::shared_wavefronts, 3200);
  line.counters.set(Counter::shared_bank_conflicts, 3000);
  record.counters.set(Counter::shared_bank_conflicts, 3000);
  record.kernels[0].lines = {line};
  std::vector<std::string> causes;
  for (const Diagnosis& each : inspect_record(record, source).of_counts) {
    if (each.line == 1) causes.push_back(each.cause);
  }
  return causes;
}

TEST(Inspect, ConflictsAreArraysOrArrivalsByTheLinesText) {
  using ::testing::ElementsAre;
  for (const char* text :
       {"bar[k].arrive_and_wait();", "auto t = bar.arrive(2);", "pipe.producer_commit();",
        "pipe.consumer_release();  // frees it", "asm volatile(\n  \"mbarrier.arrive.shared.b64 _, [%0];\""})
    EXPECT_THAT(of_conflicts_on(text), ElementsAre("arrivals")) << text;
  for (const char* text :
       {"tile[threadIdx.x][k] = 1;", "arrived[32 * threadIdx.x] = 1;", "x = t[32 * i];  // then arrive()",
        "asm(\"ld.shared.f32 %0, [%1];\" : ...);", "", "x = t[32 * i];\nbar.arrive();"})
    EXPECT_THAT(of_conflicts_on(text), ElementsAre("bank_conflicts")) << text;
}

TEST(Inspect, FallsBackToSectorsAtL1) {
  RunRecord record = vector_add_record();
  LineCounters scattered{4, {}};
  scattered.counters.set(Counter::l1_read_sectors, 1 << 20);
  record.kernels[0].lines = {scattered};
  EXPECT_EQ(inspect_record(record, "").traffic_line, 4);
}

TEST(Inspect, FindsScatteredAccessesButNotWideOnes) {
  RunRecord record = vector_add_record();
  record.kernels[0].parts = {};
  record.elapsed_ns = 240'000;
  LineCounters line{10, {}};
  line.counters.set(Counter::global_load_requests, 1000);
  line.counters.set(Counter::l1_read_sectors, 32'000);
  line.counters.set(Counter::l1_lines, 32'000);
  record.kernels[0].lines = {line};
  EXPECT_EQ(inspect_record(record, "").diagnosis.cause, "over_fetch");
  EXPECT_EQ(inspect_record(record, "").diagnosis.line, 10);
  record.kernels[0].lines[0].counters.set(Counter::l1_read_sectors, 16'000);  // float4: 16 sectors in 4 whole lines
  record.kernels[0].lines[0].counters.set(Counter::l1_lines, 4'000);
  EXPECT_NE(inspect_record(record, "").diagnosis.cause, "over_fetch");
}

// Each thread uses one of every eight floats: all sectors of the lines are touched, and an eighth of each is used.
TEST(Inspect, WholeLinesThatNoWarpCanUseAreScattered) {
  RunRecord record = vector_add_record();
  record.kernels[0].parts = {};
  record.elapsed_ns = 240'000;
  LineCounters line{10, {}};
  line.counters.set(Counter::global_load_requests, 1000);
  line.counters.set(Counter::l1_read_sectors, 32'000);
  line.counters.set(Counter::l1_lines, 8'000);
  record.kernels[0].lines = {line};
  EXPECT_EQ(inspect_record(record, "").diagnosis.cause, "over_fetch");
}

// Local memory causes sectors but no global requests. These sectors must not be taken for scattered accesses.
TEST(Inspect, LocalMemoryIsToldFromGlobal) {
  RunRecord record = vector_add_record();
  KernelRecord& kernel = record.kernels[0];
  kernel.parts.latency_ns = 0;
  kernel.parts.dram_ns = 480'000;
  record.elapsed_ns = kernel.elapsed_ns = 482'500;
  for (Counters* counters : {&kernel.counters, &record.counters}) {
    counters->set(Counter::l1_read_sectors, 4 * 262'144);
    counters->set(Counter::local_sectors, 3 * 262'144);
  }
  LineCounters line{12, {}};
  line.counters.set(Counter::l1_read_sectors, 3 * 262'144);
  line.counters.set(Counter::local_sectors, 3 * 262'144);
  line.counters.set(Counter::l1_lines, 3 * 262'144);
  kernel.lines.push_back(line);
  record.counters.set(Counter::dram_read_bytes, 44 << 20);
  const Finding finding = inspect_record(record, "");
  EXPECT_EQ(finding.diagnosis.cause, "spills") << finding.diagnosis.text;
  EXPECT_EQ(finding.diagnosis.line, 12);
}

TEST(Inspect, SpillsCostWhatTheNearestLevelThatHoldsThemCosts) {
  RunRecord record = vector_add_record();
  record.kernels[0].parts.latency_ns = 0;
  record.kernels[0].spilled_bytes_per_thread = 100;  // 2^20 threads, stored once and loaded once: 210 MB
  const Finding finding = inspect_record(record, "");
  EXPECT_EQ(finding.diagnosis.cause, "spills");
  EXPECT_EQ(finding.diagnosis.line, 14);
  EXPECT_THAT(finding.diagnosis.text, HasSubstr("about 1.64 ms"));  // 210 MB fit neither L1 nor L2
}

TEST(Inspect, KernelsThatPassArraysOnAreUnfused) {
  RunRecord record = vector_add_record();
  record.kernels.push_back(record.kernels[0]);
  for (const Counter bytes :
       {Counter::dram_read_bytes, Counter::dram_write_bytes, Counter::l1_read_sectors, Counter::l1_write_sectors}) {
    record.counters.set(bytes, 2 * *record.counters[bytes]);
  }
  for (KernelRecord& kernel : record.kernels) kernel.parts.latency_ns = 0;
  record.elapsed_ns *= 2;
  EXPECT_EQ(inspect_record(record, "").diagnosis.cause, "unfused");
  for (KernelRecord& kernel : record.kernels) kernel.counters.set(Counter::l1_read_sectors, 4 << 20);
  EXPECT_EQ(inspect_record(record, "").diagnosis.cause, "unfused");  // each launch moves all that the task needs
  for (KernelRecord& kernel : record.kernels) {
    for (const Counter bytes : {Counter::dram_read_bytes, Counter::dram_write_bytes})
      kernel.counters.set(bytes, *kernel.counters[bytes] / 2);
  }
  record.kernels.insert(record.kernels.end(), {record.kernels[0], record.kernels[1]});
  EXPECT_NE(inspect_record(record, "").diagnosis.cause, "unfused");  // these may be pieces of one step
  record.kernels[1].name = "apply";  // another kernel now loads what the first one loaded
  EXPECT_EQ(inspect_record(record, "").diagnosis.cause, "unfused");
  record.kernels[1].counters.set(Counter::dram_read_bytes, 24 << 20);  // this kernel alone reads three times its inputs
  EXPECT_NE(inspect_record(record, "").diagnosis.cause, "unfused");
}

TEST(Inspect, AWrongAnswerMayShowItsPrecision) {
  Correctness correctness;
  EXPECT_EQ(inspect_wrong(correctness, 7).diagnosis.cause, "none");
  correctness.looks_like_half = true;
  EXPECT_EQ(inspect_wrong(correctness, 7).diagnosis.cause, "low_precision");
  EXPECT_EQ(inspect_wrong(correctness, 7).diagnosis.line, 7);
}

TEST(Settle, LeavesWhatTheDotDoesNotShow) {
  Finding finding;
  finding.diagnoses = {{"no_reuse", "Much.", 3, 0.5}, {"spills", "Some.", 4, 0.2}};
  settle(finding);
  ASSERT_EQ(finding.diagnoses.size(), 1u);
  EXPECT_EQ(finding.diagnosis.cause, "spills");
  finding.diagnoses = {{"no_reuse", "Much.", 3, 0.5}};
  settle(finding);
  EXPECT_TRUE(finding.diagnoses.empty());
  EXPECT_EQ(finding.diagnosis.cause, "none");
  EXPECT_THAT(finding.diagnosis.text, HasSubstr("What limits the kernel now: Much."));
}

TEST(LeadWithMissed, PutsBytesFirstWhereOnlyTheyAreMissed) {
  const Diagnosis waits{.cause = "latency", .text = "Waits.", .share = 0.5};
  const Diagnosis reuse{.cause = "no_reuse", .text = "Reuse.", .share = 0.2, .moves_right = true};
  GoalResult right, up;
  right.goal.axis = Goal::Axis::right;
  right.wanted_for = up.wanted_for = Grade::pass;
  up.met = true;
  Judgement judgement;
  judgement.goals = {right, up};
  Finding finding;
  finding.diagnoses = {waits, reuse};
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "no_reuse");
  EXPECT_EQ(finding.diagnoses[1].cause, "latency");

  finding.diagnoses = {waits};  // a cure would hardly save time, but the goal is missed
  finding.of_bytes = {reuse, Diagnosis{.cause = "over_fetch", .text = "Sectors.", .moves_right = true}};
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "no_reuse");
  judgement.goals[0].goal.what = Goal::What::sector_use;
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "over_fetch");

  // Few sectors are enough to miss sector_use.
  finding.diagnoses = {waits};
  finding.of_bytes = {reuse};
  finding.of_sectors = Diagnosis{.cause = "over_fetch", .text = "One line.", .moves_right = true};
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.text, "One line.");

  judgement.goals[1].met = false;
  finding.diagnoses = {waits, reuse};
  finding.diagnosis = waits;
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "latency");
}

TEST(LeadWithMissed, TalksOfNoBytesWhereOnlyTheRoofIsMissed) {
  const Diagnosis fuse{.cause = "unfused", .text = "Fuse.", .share = 0.5, .figure = "DRAM", .moves_right = true};
  const Diagnosis waits{.cause = "latency", .text = "Waits.", .share = 0.2};
  GoalResult right, roof;
  right.goal.axis = Goal::Axis::right;
  right.met = true;
  roof.goal.axis = Goal::Axis::up;
  roof.goal.what = Goal::What::share_of_roof;
  right.wanted_for = roof.wanted_for = Grade::pass;
  Judgement judgement;
  judgement.goals = {right, roof};
  Finding finding;
  finding.diagnosis = fuse;
  finding.diagnoses = {fuse, waits};
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "latency");
  judgement.goals[1].goal.what = Goal::What::flops_over_starter;  // fewer bytes may take less time
  finding.diagnosis = fuse;
  finding.diagnoses = {fuse, waits};
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "unfused");
}

TEST(LeadWithMissed, PutsTheCauseOfACountFirstWhereOnlyCountsAreMissed) {
  const Diagnosis waits{.cause = "latency", .text = "Waits.", .share = 0.5};
  const Diagnosis banks{.cause = "bank_conflicts", .text = "Banks.", .line = 7};
  GoalResult row;
  row.goal.what = Goal::What::shared_wavefronts_over_least;
  row.wanted_for = Grade::pass;
  Judgement judgement;
  judgement.goals = {row};
  Finding finding;
  finding.diagnoses = {waits};
  finding.of_counts = {banks};
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "bank_conflicts");
  ASSERT_EQ(finding.diagnoses.size(), 2u);
  EXPECT_EQ(finding.diagnoses[1].cause, "latency");

  GoalResult roof;  // the dot is too low, too: what costs most leads
  roof.wanted_for = Grade::pass;
  judgement.goals.push_back(roof);
  finding.diagnoses = {waits, banks};
  finding.diagnosis = waits;
  lead_with_missed(judgement, finding);
  EXPECT_EQ(finding.diagnosis.cause, "latency");
}

TEST(Inspect, SaysWhatIsNotFilled) {
  RunRecord record = vector_add_record();
  KernelRecord& kernel = record.kernels[0];
  kernel.grid = {static_cast<std::uint32_t>(8 * test_machine().sms), 1, 1};
  kernel.block = {256, 1, 1};
  kernel.resident_blocks_per_sm = 4;
  EXPECT_EQ(inspect_record(record, "").filling, "");
  kernel.resident_blocks_per_sm = 1;
  EXPECT_EQ(inspect_record(record, "").filling, "each with 8 of 32 warps");
  kernel.grid = {3, 1, 1};
  EXPECT_EQ(inspect_record(record, "").filling, "3 of 8 at work, with 8 of 32 warps");
  kernel.block = {1024, 1, 1};
  EXPECT_EQ(inspect_record(record, "").filling, "3 of 8 at work");
}

TEST(Inspect, OfARecordWithoutLinesNamesNone) {
  RunRecord record = vector_add_record();
  record.kernels.clear();
  EXPECT_EQ(inspect_record(record, "x").traffic_line, 0);
}

}  // namespace
}  // namespace roofwalk
