// Attempts as the pipeline returns them, for tests of reports and exports.
#pragma once

#include "common/record/run_record.h"
#include "grader/attempt/attempt.h"
#include "grader/attempt/inspect.h"
#include "tests/support/records.h"

namespace roofwalk::testing {

inline Goal up_goal(double pass, double ace) { return {Goal::Axis::up, "dram", Goal::What::share_of_roof, pass, ace}; }

inline CaseOutcome correct_outcome() {
  CaseOutcome outcome;
  outcome.case_name = "n=1048576, seed 1";
  outcome.correctness.correct = true;
  return outcome;
}

// Returns evidence of a correct and measured vector add that reaches 82 % of its roof.
inline Evidence measured_evidence() {
  Evidence evidence;
  evidence.outcome = correct_outcome();
  evidence.measurement = vector_add_measurement();
  evidence.starter = {{"dram", {1.0 / 12, 1e9}}, {"l2", {1.0 / 12, 1e9}}, {"l1", {1.0 / 24, 1e9}}};
  evidence.goals = {up_goal(0.7, 0.92)};
  return evidence;
}

inline Attempt blank_attempt() {
  Attempt attempt;
  attempt.chapter = "vector-add";
  attempt.device = "virtual:test";
  attempt.device_kind = "virtual";
  attempt.size = Size({{"n", 1 << 20}});
  attempt.seed = 1;
  attempt.file = "my/vector-add.cu";
  return attempt;
}

inline Attempt measured_attempt() {
  const Evidence evidence = measured_evidence();
  const RunRecord record = vector_add_record();
  Attempt attempt = blank_attempt();
  attempt.source_sha256 = std::string(64, 'a');
  attempt.judgement = judge(evidence);
  attempt.correct = true;
  attempt.worst_error = 0;
  attempt.cases = 10;
  attempt.measurement = evidence.measurement;
  attempt.time_is_modelled = true;
  attempt.roofs = roofs_of(test_machine());
  attempt.starter = evidence.starter;
  attempt.moved = movement(evidence.starter.at("dram"), *evidence.measurement->point("dram"));
  attempt.kernels = record.kernels;
  std::string source(9, '\n');
  source += "    c[i] = a[i] + b[i];\n";
  attempt.finding = inspect(record, *evidence.measurement, test_machine(), attempt.roofs, source);
  attempt.plot = "my/plots/vector-add.svg";
  return attempt;
}

inline Attempt attempt_that_ended_with(Evidence evidence) {
  Attempt attempt = blank_attempt();
  evidence.goals = {up_goal(0.7, 0.92)};
  attempt.judgement = judge(evidence);
  attempt.fault = evidence.fault;
  if (evidence.outcome) attempt.correct = evidence.outcome->correctness.correct;
  return attempt;
}

}  // namespace roofwalk::testing
