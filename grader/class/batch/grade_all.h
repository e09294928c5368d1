// Grades what is not graded yet, a worker process for each, as many at once as there are workers. Each grade is on the
// disk before the next begins, so whoever is killed goes on where it stopped. So does a regrade: what it is to make
// stands in regrading.json until it is made.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/class/batch/batch.h"
#include "grader/class/batch/worker.h"

namespace roofwalk {

struct GradeOptions {
  int workers = 1;
  bool again = false;  // grade anew what is named: each one a round more, beside the old ones
  Isolation isolation = Isolation::boxed;
  std::filesystem::path program;  // whose grade-worker is started
  WorkerLimits limits = {};
};

struct GradeProgress {
  std::size_t done = 0, all = 0;
  std::size_t faults = 0;  // of ours, so far; each is tried twice
  double elapsed_s = 0;
};

struct GradeSummary {
  std::size_t graded = 0;    // now
  std::size_t already = 0;   // before, of those that are named
  std::size_t faults = 0;    // still without a grade
  std::string last_trouble;  // the last fault's reason
};

// `named`: the submissions that were asked for. Of all others only those are graded that have no grade at all.
// `told` is called after each, from any thread, one at a time. Errors: what no submission can be blamed for, and would
// hit all of them: no toolkit, a starter that cannot be measured, grades that cannot be read.
Result<GradeSummary> grade_all(Batch& batch, const Bench& bench, const std::string& device,
                               const std::vector<Submission>& named, const GradeOptions& options,
                               const std::function<void(const GradeProgress&)>& told);

// The starter's dot, on the seed that a class's measured shape has; from the bench's store where it was measured
// before.
Result<StarterDot> starter_dot(const Bench& bench, const Chapter& chapter, const HiddenCases& hidden);

}  // namespace roofwalk
