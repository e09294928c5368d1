// A failing hidden case reports the kind of failure and the line, and nothing that reveals the case.
#include "grader/attempt/redact.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/record/run_record_json.h"

namespace roofwalk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Hide, LeavesTheKindAndForAPublicSizeTheLine) {
  Trial trial;
  trial.case_name = "n=4099, seed 7203685477580";
  trial.record.printed.text = "n is 4099";
  Fault fault{.kind = FaultKind::out_of_bounds,
              .kernel = "add",
              .block = {17, 0, 0},
              .thread = {3, 0, 0},
              .file = "vector-add.cu",
              .line = 5,
              .buffer = "c",
              .index = 4099,
              .extent = 4099,
              .message = "c[4099], one past the end of c (4099 floats)"};
  trial.record.warnings = {fault};
  trial.record.fault = fault;
  Trial of_hidden_size = trial;
  hide(trial, Hidden::seed);
  EXPECT_EQ(trial.record.fault->kind, FaultKind::out_of_bounds);
  EXPECT_EQ(trial.record.fault->line, 5);
  EXPECT_EQ(trial.record.fault->message, "an access out of bounds");
  const std::string told = json_line(to_json(*trial.record.fault)) + trial.case_name + trial.record.printed.text;
  EXPECT_THAT(told, Not(HasSubstr("4099")));
  EXPECT_THAT(told, Not(HasSubstr("17")));
  EXPECT_TRUE(trial.record.warnings.empty());
  // A file may have one line for each size.
  hide(of_hidden_size, Hidden::size);
  EXPECT_EQ(of_hidden_size.record.fault->kind, FaultKind::out_of_bounds);
  EXPECT_EQ(of_hidden_size.record.fault->line, 0);
}

// A budget says that a kernel was slow or endless, not which.
TEST(Hide, OfABudgetClaimsNoEndlessLoop) {
  Trial trial;
  trial.record.fault.emplace().kind = FaultKind::runaway;
  hide(trial, Hidden::size);
  EXPECT_EQ(trial.record.fault->message, "a run that exceeds its work limit");
}

TEST(Hide, OfAWrongValueLeavesTheBuffer) {
  Trial trial;
  trial.correctness = Correctness{.wrong = Wrong::nan,
                                  .worst_error = 0.25,
                                  .buffer = "c",
                                  .index = 4098,
                                  .reason = "c[4098] is NaN, it should be 0.42",
                                  .wrong_count = 4099};
  trial.writer_line = 7;
  Trial of_hidden_size = trial;
  hide(trial, Hidden::seed);
  EXPECT_EQ(trial.correctness->reason, "c holds NaN");
  EXPECT_EQ(trial.correctness->index, -1);
  EXPECT_EQ(trial.correctness->wrong_count, 0);
  EXPECT_EQ(trial.correctness->worst_error, 0);
  EXPECT_TRUE(trial.went_wrong());
  hide(of_hidden_size, Hidden::size);
  for (const Trial* each : {&trial, &of_hidden_size}) {
    Evidence evidence;
    add_to_evidence(*each, Artifact{}, evidence);
    EXPECT_EQ(evidence.outcome->line, each == &trial ? 7 : 0);
  }
}

TEST(Hide, OfAnUnevenSizeSaysHowToRunOneLikeIt) {
  const std::string told = hidden_case_below(Size({{"n", 1024}}), "vector-add");
  EXPECT_EQ(told, "a hidden size below n=1024; `./roofwalk run vector-add --as-graded` runs one like it");
}

TEST(Hide, OfARefusalLeavesTheLineForAPublicSize) {
  Trial trial;
  trial.refusal = Error{"a grid of 4099 blocks", "vector-add.cu", 9, "for n=4099"};
  hide(trial, Hidden::seed);
  EXPECT_EQ(trial.refusal->text(), "vector-add.cu:9: the plan is refused");
  hide(trial, Hidden::size);
  EXPECT_EQ(trial.refusal->text(), "vector-add.cu: the plan is refused");
}

}  // namespace
}  // namespace roofwalk
