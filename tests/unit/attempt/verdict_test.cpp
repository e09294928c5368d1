#include "grader/attempt/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/attempts.h"

namespace roofwalk {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::measured_evidence;
using testing::test_machine;
using testing::up_goal;
using testing::vector_add_record;
using testing::vector_add_work;

TEST(Judge, PassesWhatMeetsEveryPassThreshold) {
  const Judgement j = judge(measured_evidence());
  EXPECT_EQ(j.verdict, Verdict::pass);
  EXPECT_EQ(j.grade, Grade::pass);
  EXPECT_TRUE(j.reasons.empty());
  ASSERT_EQ(j.goals.size(), 1u);
  EXPECT_EQ(j.goals[0].wanted_for, Grade::ace);  // the next grade
  EXPECT_EQ(j.goals[0].wanted, 0.92);
  EXPECT_FALSE(j.goals[0].met);
  EXPECT_NEAR(*j.goals[0].reached, 0.8192, 1e-9);
}

TEST(Judge, AcesWhatMeetsEveryAceThreshold) {
  Evidence evidence = measured_evidence();
  evidence.goals = {up_goal(0.5, 0.8)};
  const Judgement j = judge(evidence);
  EXPECT_EQ(j.verdict, Verdict::pass);
  EXPECT_EQ(j.grade, Grade::ace);
  EXPECT_TRUE(j.goals[0].met);
}

TEST(Judge, FailsWhatMissesOneGoalAndSaysByHowMuch) {
  Evidence evidence = measured_evidence();
  evidence.goals = {up_goal(0.5, 0.8), {Goal::Axis::right, "l1", Goal::What::ai_over_starter, 4.0, 6.0}};
  const Judgement j = judge(evidence);
  EXPECT_EQ(j.verdict, Verdict::fail);
  EXPECT_EQ(j.grade, Grade::none);
  EXPECT_THAT(j.reasons, ElementsAre("right: x2 the starter's AI at L1, a pass wants x4"));
  EXPECT_TRUE(j.goals[0].met);
  EXPECT_FALSE(j.goals[1].met);
}

TEST(Judge, SectorUseAndTheFlatRoofAreRatiosOfTheirOwn) {
  Evidence evidence = measured_evidence();
  evidence.measurement->sector_use = {0.25, "ratio", Obtained::counted};
  evidence.goals = {{Goal::Axis::right, "l1", Goal::What::sector_use, 0.9, std::nullopt},
                    {Goal::Axis::up, "l1", Goal::What::share_of_peak, 0.1, std::nullopt}};
  const Judgement j = judge(evidence);
  EXPECT_THAT(j.reasons, ElementsAre("right: 25 % of the L1 sectors needed, a pass wants 90 %",
                                     "up: 0.427 % of the flat roof, a pass wants 10 %"));
  evidence.measurement->sector_use = {0.9, "ratio", Obtained::counted};
  evidence.goals.pop_back();
  EXPECT_EQ(judge(evidence).verdict, Verdict::pass);
}

TEST(Judge, AnUpperBoundIsMetByLess) {
  Evidence evidence = measured_evidence();
  Goal goal{.axis = Goal::Axis::up, .level = "", .what = Goal::What::executed_over_useful, .pass = 1.5, .ace = 1.1};
  evidence.goals = {goal};
  const auto grade_at = [&](double executed) {
    evidence.measurement->executed_over_useful = {executed, "ratio", Obtained::counted};
    return judge(evidence).grade;
  };
  EXPECT_EQ(grade_at(1), Grade::ace);
  EXPECT_EQ(grade_at(1.1), Grade::ace);
  EXPECT_EQ(grade_at(1.5), Grade::pass);
  EXPECT_EQ(grade_at(1.6), Grade::none);
  EXPECT_THAT(judge(evidence).reasons, ElementsAre("count: x1.6 the useful FLOPs, a pass wants at most x1.5"));
  // What a kernel executes has no noise.
  evidence.noise = "another process used the GPU";
  EXPECT_EQ(judge(evidence).verdict, Verdict::fail);
  evidence.goals[0].what = Goal::What::sm_active;
  evidence.measurement->sm_active = {0.5, "ratio", Obtained::counted};
  EXPECT_EQ(judge(evidence).verdict, Verdict::too_noisy);
}

// The same bytes at a level: a kernel that moves more there misses the goal as one that moves fewer does.
TEST(Judge, AnAiUnlikeTheStartersIsTooLargeOrTooSmall) {
  Evidence evidence = measured_evidence();
  evidence.goals = {{Goal::Axis::right, "l1", Goal::What::ai_unlike_starter, 2.0, 1.02}};
  const double ai = *evidence.measurement->level("l1").ai.get();
  const auto at = [&](double starter_ai) {
    evidence.starter["l1"].ai = starter_ai;
    return judge(evidence);
  };
  EXPECT_EQ(at(ai).grade, Grade::ace);
  EXPECT_EQ(at(ai * 1.01).grade, Grade::ace);
  EXPECT_EQ(at(ai / 1.01).grade, Grade::ace);
  EXPECT_EQ(at(ai * 1.9).grade, Grade::pass);
  EXPECT_EQ(at(ai / 1.9).grade, Grade::pass);
  for (const double other : {ai * 4, ai / 4}) {
    EXPECT_EQ(at(other).verdict, Verdict::fail);
    EXPECT_THAT(at(other).reasons, ElementsAre("stay: x4 away from the starter's AI at L1, a pass wants at most x2"));
  }
  evidence.starter.erase("l1");
  EXPECT_EQ(judge(evidence).verdict, Verdict::not_graded);
}

// Bytes beside the task's, of which no goal is, make no slow kernel fast.
TEST(Judge, WastedBytesLowerTheRoofOnlyWhereAnotherGoalIsAboutThem) {
  Evidence evidence = measured_evidence();
  evidence.goals = {up_goal(0.5, 0.8)};
  const auto with_bytes = [&](double factor) {
    RunRecord record = vector_add_record();
    record.elapsed_ns *= factor;
    record.counters.set(Counter::dram_write_bytes, static_cast<std::uint64_t>((12 * factor - 8) * (1 << 20)));
    evidence.measurement = measure(record, vector_add_work(), roofs_of(test_machine()));
    return *judge(evidence).goals[0].reached;
  };
  const double plain = with_bytes(1);
  EXPECT_NEAR(with_bytes(1.2), plain, 1e-6);
  EXPECT_NEAR(with_bytes(1.25), plain, 1e-6);
  EXPECT_NEAR(with_bytes(2.5), plain / 2, 1e-6);
  evidence.goals.push_back({Goal::Axis::right, "l1", Goal::What::ai_over_starter, 1.0, std::nullopt});
  EXPECT_NEAR(with_bytes(2.5), plain / 2, 1e-6);
  evidence.goals.push_back({Goal::Axis::right, "dram", Goal::What::share_of_algorithmic_ai, std::nullopt, 0.9});
  EXPECT_NEAR(with_bytes(2.5), plain / 2, 1e-6);  // asked for an ace alone
  evidence.goals.back().pass = 0.3;
  EXPECT_NEAR(with_bytes(2.5), plain, 1e-6);
  evidence.goals.back().level = "l2";
  EXPECT_NEAR(with_bytes(2.5), plain, 1e-6);
}

TEST(Judge, BytesOfSharedMemoryUnlikeTheStartersAreTooManyOrTooFew) {
  Evidence evidence = measured_evidence();
  const Goal goal{.axis = Goal::Axis::up,
                  .level = "",
                  .what = Goal::What::shared_bytes_unlike_starter,
                  .pass = 1.1,
                  .ace = std::nullopt};
  evidence.goals = {goal};
  const auto at = [&](double bytes, double starter_bytes) {
    evidence.measurement->shared_bytes = {bytes, "B", Obtained::counted};
    evidence.starter_counts["shared_bytes_unlike_starter"] = starter_bytes;
    return judge(evidence);
  };
  EXPECT_EQ(at(1000, 1000).verdict, Verdict::pass);
  EXPECT_EQ(at(1090, 1000).verdict, Verdict::pass);
  EXPECT_EQ(at(1000, 1090).verdict, Verdict::pass);
  EXPECT_THAT(at(500, 1000).reasons,
              ElementsAre("stay: x2 away from the starter's bytes of shared memory, a pass wants at most x1.1"));
  EXPECT_EQ(at(2000, 1000).verdict, Verdict::fail);
  EXPECT_EQ(at(0, 0).verdict, Verdict::pass);
  EXPECT_EQ(at(0, 1000).goals[0].reached, 1000);
  EXPECT_EQ(at(1000, 0).verdict, Verdict::fail);
  evidence.measurement->shared_bytes = {};  // not counted
  EXPECT_EQ(judge(evidence).verdict, Verdict::not_graded);
  at(1000, 1000);
  evidence.starter_counts.clear();
  EXPECT_EQ(judge(evidence).verdict, Verdict::not_graded);
}

TEST(Judge, BankConflictsNeedSharedMemory) {
  Evidence evidence = measured_evidence();
  Goal goal{.axis = Goal::Axis::up, .level = "", .pass = 1.05, .ace = std::nullopt};
  goal.what = Goal::What::shared_wavefronts_over_least;
  evidence.goals = {goal};
  const Judgement j = judge(evidence);  // vector add uses none
  EXPECT_EQ(j.verdict, Verdict::pass);
  EXPECT_EQ(j.goals[0].reached, 1.0);
  evidence.measurement->shared_wavefronts.value = 100;  // whose conflicts were not counted
  EXPECT_EQ(judge(evidence).verdict, Verdict::not_graded);
}

TEST(Judge, AThresholdIsMetByReachingItExactly) {
  Evidence evidence = measured_evidence();
  evidence.goals = {{Goal::Axis::right, "dram", Goal::What::share_of_algorithmic_ai, 1.0, std::nullopt}};
  EXPECT_EQ(judge(evidence).verdict, Verdict::pass);
}

TEST(Judge, AGoalForAnAceAloneDoesNotBlockAPass) {
  Evidence evidence = measured_evidence();
  evidence.goals = {up_goal(0.5, 0.8), {Goal::Axis::right, "l1", Goal::What::ai_over_starter, std::nullopt, 4.0}};
  EXPECT_EQ(judge(evidence).grade, Grade::pass);
  evidence.goals[1].ace = 2.0;
  EXPECT_EQ(judge(evidence).grade, Grade::ace);
}

TEST(Judge, AGoalForAPassAloneStillCountsForAnAce) {
  Evidence evidence = measured_evidence();
  evidence.goals = {up_goal(0.5, 0.8), {Goal::Axis::up, "dram", Goal::What::flops_over_starter, 9.0, std::nullopt}};
  EXPECT_EQ(judge(evidence).verdict, Verdict::fail);  // x8.74 was reached
  evidence.goals[1].pass = 8.0;
  EXPECT_EQ(judge(evidence).grade, Grade::ace);
}

TEST(Judge, CorrectnessComesBeforeTheDot) {
  Evidence evidence = measured_evidence();
  evidence.outcome->correctness.correct = false;
  evidence.outcome->correctness.reason = "c[3] is 2, not 1";
  evidence.outcome->file = "my/x.cu";
  evidence.outcome->line = 7;
  const Judgement j = judge(evidence);
  EXPECT_EQ(j.verdict, Verdict::incorrect);
  EXPECT_EQ(j.grade, Grade::none);
  EXPECT_THAT(j.reasons, ElementsAre("my/x.cu:7: c[3] is 2, not 1 (n=1048576, seed 1)"));
}

TEST(Judge, NamesHalfPrecision) {
  Evidence evidence = measured_evidence();
  evidence.outcome->correctness.correct = false;
  evidence.outcome->correctness.reason = "c[3] is 2, not 1";
  evidence.outcome->correctness.looks_like_half = true;
  EXPECT_THAT(judge(evidence).reasons[0], HasSubstr("half precision"));
}

TEST(Judge, EachWayToStopEarlyHasItsVerdict) {
  Evidence compile;
  compile.compile_error = Error{"expected a `;`", "my/x.cu", 3};
  EXPECT_EQ(judge(compile).verdict, Verdict::compile_error);
  EXPECT_THAT(judge(compile).reasons, ElementsAre("my/x.cu:3: expected a `;`"));
  Evidence refused;
  refused.refusal = Error{"solve reads data", "my/x.cu", 9};
  EXPECT_EQ(judge(refused).verdict, Verdict::refused);
  Evidence fault;
  fault.fault = Fault{};
  fault.fault->file = "my/x.cu";
  fault.fault->line = 12;
  fault.fault->message = "out of bounds: c[33]";
  fault.fault_case = "n=33, seed 1";
  EXPECT_EQ(judge(fault).verdict, Verdict::fault);
  EXPECT_THAT(judge(fault).reasons, ElementsAre("my/x.cu:12: out of bounds: c[33] (n=33, seed 1)"));
}

TEST(Judge, DoesNotGradeTheImplausibleEvenWhereGoalsAreMet) {
  Evidence evidence = measured_evidence();
  evidence.implausible = {"above the roof"};
  const Judgement j = judge(evidence);
  EXPECT_EQ(j.verdict, Verdict::not_graded);
  EXPECT_EQ(j.grade, Grade::none);
  EXPECT_THAT(j.reasons, ElementsAre("above the roof"));
}

TEST(Judge, DoesNotGradeWhatADeviceCannotCount) {
  Evidence evidence = measured_evidence();
  RunRecord record = testing::vector_add_record();
  record.counters = {};
  evidence.measurement = measure(record, testing::vector_add_work(), roofs_of(testing::test_machine()));
  const Judgement j = judge(evidence);
  EXPECT_EQ(j.verdict, Verdict::not_graded);
  EXPECT_THAT(j.reasons, ElementsAre("this device cannot count what the goal `up` is about (of the DRAM roof)"));
}

TEST(Judge, NoiseIsNeverAFail) {
  Evidence evidence = measured_evidence();
  evidence.goals = {up_goal(0.9, 0.95)};
  evidence.noise = "another process used the GPU";
  EXPECT_EQ(judge(evidence).verdict, Verdict::too_noisy);
  // Bytes have no noise, so a goal about bytes that is missed stays missed.
  evidence.goals.push_back({.axis = Goal::Axis::right,
                            .level = "dram",
                            .what = Goal::What::share_of_algorithmic_ai,
                            .pass = 2,
                            .ace = std::nullopt});
  EXPECT_EQ(judge(evidence).verdict, Verdict::fail);
  ASSERT_EQ(judge(evidence).reasons.size(), 1u);
  EXPECT_THAT(judge(evidence).reasons[0], ::testing::HasSubstr("algorithm's AI"));
}

TEST(Judge, WhatPairsDecidedStandsAboveTheFigure) {
  Evidence evidence = measured_evidence();
  evidence.goals = {up_goal(0.01, 0.02)};  // the figure alone would meet both
  ASSERT_EQ(judge(evidence).grade, Grade::ace);
  evidence.decided[{0, Grade::ace}] = false;
  EXPECT_EQ(judge(evidence).grade, Grade::pass);
  EXPECT_FALSE(judge(evidence).goals.at(0).met);
  evidence.decided[{0, Grade::pass}] = false;
  EXPECT_EQ(judge(evidence).verdict, Verdict::fail);

  evidence.goals = {up_goal(5, 6)};  // the figure alone would meet neither
  evidence.decided = {{{0, Grade::pass}, true}, {{0, Grade::ace}, false}};
  EXPECT_EQ(judge(evidence).verdict, Verdict::pass);
  EXPECT_EQ(judge(evidence).grade, Grade::pass);
}

TEST(Judge, WithoutEvidenceGradesNothing) { EXPECT_EQ(judge({}).verdict, Verdict::not_graded); }

TEST(Grades, HaveNamesThatCanBeReadBack) {
  for (const Grade grade : {Grade::none, Grade::pass, Grade::ace}) EXPECT_EQ(grade_from_name(grade_name(grade)), grade);
  EXPECT_EQ(grade_from_name("best"), Grade::none);
}

}  // namespace
}  // namespace roofwalk
