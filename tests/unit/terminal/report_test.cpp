#include "grader/terminal/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/attempts.h"
#include "tests/support/golden.h"

namespace roofwalk {
namespace {

using testing::attempt_that_ended_with;
using ::testing::HasSubstr;
using testing::measured_attempt;
using ::testing::Not;

void expect_fits_a_screen(const std::string& text) {
  std::istringstream in(text);
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_LT(lines, 25);
}

TEST(Report, OfAMeasuredAttemptIsTheGoldenOne) {
  WalkNews news;
  news.joined = true;
  news.since_last = Movement{1, 1.07};
  const std::string text = report(measured_attempt(), news, Colors(false));
  testing::expect_golden(TEST_SOURCE_DIR
                         "/tests/unit/terminal/golden"
                         "/measured.txt",
                         text);
  expect_fits_a_screen(text);
}

TEST(Report, SpeaksOfKeysWhereTheChapterCountsThem) {
  Attempt attempt = measured_attempt();
  attempt.roofs.compute.clear();
  attempt.roofs.is_memory_only = true;
  attempt.roofs.unit = WorkUnit::key;
  RunRecord record = testing::vector_add_record();
  record.counters.set(Counter::flops_f32, 0);
  attempt.measurement = measure(record, testing::vector_add_work(), attempt.roofs);
  attempt.moved = Movement{.right = 2, .up = 1};
  Goal& goal = attempt.judgement.goals.front().goal;
  goal.what = Goal::What::flops_over_starter;
  goal.unit = WorkUnit::key;
  const std::string text = report(attempt, {}, Colors(false));
  EXPECT_THAT(text, HasSubstr("  keys       1,048,576 useful\n"));
  EXPECT_THAT(text, HasSubstr("8.74 Gkey/s of the roof's 10.7 Gkey/s"));
  EXPECT_THAT(text, HasSubstr("0.0833 key/B observed"));
  EXPECT_THAT(text, HasSubstr("right x2 at the same key/s"));
  EXPECT_THAT(text, HasSubstr("the starter's key/s, "));
  EXPECT_THAT(text, Not(HasSubstr("FLOP")));
}

TEST(Report, ShowsTheLibrarysDotOnceItIsMeasured) {
  WalkNews news;
  EXPECT_THAT(report(measured_attempt(), news, Colors(false)), Not(HasSubstr("library")));
  news.library = LibraryDot{.name = "CUB",
                            .call = "DeviceReduce::Sum",
                            .dot = {},
                            .share_of_roof = 0.934,
                            .achieved_flops_per_s = measured_attempt().measurement->achieved_flops_per_s.value / 2};
  EXPECT_THAT(report(measured_attempt(), news, Colors(false)),
              HasSubstr("  library    CUB's DeviceReduce::Sum: 93 % of the roof, yours is x2 as fast\n"));
}

TEST(Report, ShowsALongDiagnosisToItsEnd) {
  Attempt attempt = measured_attempt();
  std::string& text = attempt.finding->diagnosis.text;
  for (text.clear(); text.size() < 480;) text += "the same bytes come again, ";
  text += "to the end.";
  EXPECT_THAT(report(attempt, {}, Colors(false)), HasSubstr("to the end.\n"));
}

TEST(Report, FitsANarrowTerminal) {
  std::istringstream in(report(measured_attempt(), {}, Colors(true), 60));
  for (std::string line; std::getline(in, line);) EXPECT_LE(shown_columns(line), 60u) << line;
}

TEST(Report, AMoveTooSmallToShowIsNone) {
  Attempt attempt = measured_attempt();
  attempt.moved = Movement{.right = 0.9985, .up = 2};
  EXPECT_THAT(report(attempt, {}, Colors(false)), HasSubstr("moved      up x2 at the same AI since"));
}

TEST(Report, NamesTheSumsOfAtomics) {
  Attempt attempt = measured_attempt();
  attempt.measurement->atomic_flops = {2048, "FLOP", Obtained::counted};
  EXPECT_THAT(report(attempt, {}, Colors(false)), HasSubstr("2,048 more by atomics"));
  attempt.measurement->executed_flops = {0, "FLOP", Obtained::counted};
  EXPECT_THAT(report(attempt, {}, Colors(false)), HasSubstr("useful, 0 executed\n"));
}

TEST(Report, OfAnIncorrectAttemptSaysWhereAndGivesNoNumbers) {
  Evidence evidence;
  evidence.outcome = testing::correct_outcome();
  evidence.outcome->correctness.correct = false;
  evidence.outcome->correctness.reason = "c[1048575] was never written (1 of 1048576 elements)";
  evidence.outcome->file = "my/vector-add.cu";
  evidence.outcome->line = 14;
  const std::string text = report(attempt_that_ended_with(evidence), {}, Colors(false));
  testing::expect_golden(TEST_SOURCE_DIR
                         "/tests/unit/terminal/golden"
                         "/incorrect.txt",
                         text);
  expect_fits_a_screen(text);
}

TEST(Report, OfAnIncorrectAttemptSaysAtHowManySizes) {
  Evidence evidence;
  evidence.outcome = testing::correct_outcome();
  evidence.outcome->correctness.correct = false;
  Attempt attempt = attempt_that_ended_with(evidence);
  const auto text = [&](int ran, int wrong) {
    attempt.small_sizes = ran;
    attempt.wrong_small_sizes = wrong;
    return report(attempt, {}, Colors(false));
  };
  EXPECT_THAT(text(9, 4), HasSubstr("wrong at 4 of the 9 small sizes that ran\n"));
  EXPECT_THAT(text(9, 9), HasSubstr("wrong at all 9 small sizes that ran\n"));
  EXPECT_THAT(text(9, 0), HasSubstr("right at all 9 small sizes\n"));
}

TEST(Report, ShowsTheFirstLinesOfWhatKernelsPrinted) {
  Attempt attempt = measured_attempt();
  EXPECT_THAT(report(attempt, {}, Colors(false)), Not(HasSubstr("printed")));
  for (int i = 0; i < 25; ++i) attempt.printed.text += "value " + std::to_string(i) + "\n";
  attempt.printed.more_lines = 100;
  attempt.printed_case = "n=7, seed 1";
  const std::string text = report(attempt, {}, Colors(false));
  EXPECT_THAT(text,
              HasSubstr("  printed    at n=7, seed 1; printf takes no modelled time\n    value 0\n    value 1\n"));
  EXPECT_THAT(text, HasSubstr("    value 19\n    ... 105 more lines\n"));
  EXPECT_THAT(text, Not(HasSubstr("value 20")));
}

TEST(Report, NamesTheThreadOfAFaultAndWarnsOfLuck) {
  Evidence evidence;
  evidence.fault.emplace();
  evidence.fault->kind = FaultKind::race;
  evidence.fault->kernel = "sum";
  evidence.fault->block = {3, 0, 0};
  evidence.fault->thread = {5, 1, 0};
  evidence.fault->message = "race: reads byte 4 of tile";
  EXPECT_THAT(report(attempt_that_ended_with(evidence), {}, Colors(false)),
              HasSubstr("thread (5, 1, 0) of block (3, 0, 0) in sum\n"));
  evidence.fault->kind = FaultKind::resource;
  EXPECT_THAT(report(attempt_that_ended_with(evidence), {}, Colors(false)), Not(HasSubstr("thread (")));

  Attempt attempt = measured_attempt();
  Fault& warning = attempt.warnings.emplace_back();
  warning.file = "my/sum.cu";
  warning.line = 9;
  warning.message = "race by luck: here";
  EXPECT_THAT(report(attempt, {}, Colors(false)), HasSubstr("  warning    my/sum.cu:9: race by luck: here\n"));
}

TEST(Report, ListsTheGoalsOfAPassFirstWhileItIsMissed) {
  Attempt attempt = measured_attempt();
  attempt.judgement.verdict = Verdict::fail;
  GoalResult row = attempt.judgement.goals.front();
  row.wanted_for = Grade::ace;
  attempt.judgement.goals = {row, row};
  attempt.judgement.goals.back().wanted_for = Grade::pass;
  const auto place = [&](Grade grade) {
    return report(attempt, {}, Colors(false)).find(std::string(grade_name(grade)) + " wants");
  };
  EXPECT_LT(place(Grade::pass), place(Grade::ace));
}

TEST(Report, OfACompileErrorStaysWithinAScreen) {
  Evidence evidence;
  std::string message;
  for (int i = 0; i < 40; ++i) message += "error: identifier \"x\" is undefined\n";
  evidence.compile_error = Error{message, "my/vector-add.cu", 3};
  expect_fits_a_screen(report(attempt_that_ended_with(evidence), {}, Colors(false)));
}

TEST(Report, SaysWhichGoalTheMachineLeavesOut) {
  Attempt attempt = measured_attempt();
  attempt.goals_left_out = {"right at DRAM is not asked for on mini."};
  EXPECT_THAT(report(attempt, {}, Colors(false)),
              HasSubstr("\n  no goal    right at DRAM is not asked for on mini.\n"));
}

TEST(Report, MakesWhatALearnerWroteHarmless) {
  Attempt attempt = measured_attempt();
  attempt.finding->traffic_source = "c[i] = a[i]; // \x1b]0;owned\x07";
  const std::string text = report(attempt, {}, Colors(false));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("\\x1b]0;owned\\x07"));
}

TEST(Report, ColoursOnlyWhenAsked) {
  EXPECT_THAT(report(measured_attempt(), {}, Colors(true)), HasSubstr("\x1b[32m"));
  EXPECT_THAT(report(measured_attempt(), {}, Colors(false)), Not(HasSubstr("\x1b")));
}

TEST(Report, SaysWhatADeviceCannotTell) {
  Attempt attempt = measured_attempt();
  RunRecord record = testing::vector_add_record();
  record.counters = {};
  attempt.measurement = measure(record, testing::vector_add_work(), attempt.roofs);
  EXPECT_THAT(report(attempt, {}, Colors(false)), HasSubstr("unknown on this device"));
}

}  // namespace
}  // namespace roofwalk
