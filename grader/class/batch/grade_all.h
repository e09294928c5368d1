// Grades what is not graded yet, each submission in a worker process, as many at once as there are workers. Each grade
// is on disk before its worker begins the next, so a killed call is continued by the next one. So is a regrade: what it
// has to do is kept in regrading.json until it is done.
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
  bool again = false;  // grade what is named anew: one more round each, beside the old ones
  Isolation isolation = Isolation::boxed;
  std::filesystem::path program;  // its grade-worker is started
  WorkerLimits limits = {};
};

struct GradeProgress {
  std::size_t done = 0, all = 0;
  std::size_t faults = 0;  // of ours, so far; each submission is tried twice
  double elapsed_s = 0;
};

struct GradeSummary {
  std::size_t graded = 0;    // by this call
  std::size_t already = 0;   // before, of those that are named
  std::size_t faults = 0;    // still without a grade
  std::string last_trouble;  // the last fault's reason
};

// `named`: the submissions that were asked for. Others are graded only if they have no grade at all. `told` is called
// after each, from any thread, one call at a time. Errors: only trouble that would affect all submissions: no toolkit,
// a starter that cannot be measured, grades that cannot be read.
Result<GradeSummary> grade_all(Batch& batch, const Rig& rig, const std::string& device,
                               const std::vector<Submission>& named, const GradeOptions& options,
                               const std::function<void(const GradeProgress&)>& told);

// The starter's dot, on the seed of the class's measured shape; from the rig's store if it was measured before.
Result<StarterDot> starter_dot(const Rig& rig, const Chapter& chapter, const HiddenCases& hidden);

}  // namespace roofwalk
