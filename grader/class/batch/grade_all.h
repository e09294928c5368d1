// Grades submissions that have no grade yet, each in a worker process, with as many processes at once as there are
// workers. Each grade is on disk before its worker begins the next submission, so if a call is killed, the next one
// continues its work. This is also true for a regrade: until it is done, regrading.json contains the round of each of
// its keys.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "grader/class/batch/batch.h"
#include "grader/class/batch/grade_progress.h"
#include "grader/class/batch/grading.h"
#include "grader/class/batch/worker.h"

namespace roofwalk {

struct GradeOptions {
  int workers = 1;
  bool again = false;  // grade the named submissions again: each gets one more round, and the old grades stay
  Isolation isolation = Isolation::boxed;
  std::filesystem::path program;  // the program to start with `grade-worker`
  WorkerLimits limits = {};
  // Grades elsewhere than on this machine. Empty: grade_here(). Errors: trouble that affects all submissions; what was
  // graded until then is kept.
  std::function<Status(Grading&)> executor = {};
};

// `named`: the submissions that the instructor named. They are graded if this grader has not yet graded them under
// these terms, or if options.again is set; all other submissions, only if they have no grade at all. `told` is called
// after each try of a submission, from any thread, one call at a time. Only trouble that would affect all submissions
// is an Error: no toolkit, a starter that cannot be measured, grades that cannot be read.
Result<GradeSummary> grade_all(Batch& batch, const Rig& rig, const std::string& device,
                               const std::vector<Submission>& named, const GradeOptions& options,
                               const std::function<void(const GradeProgress&)>& told);

// The starter's dot, measured with the seed of the class's measured shape, or taken from the rig's store if it is
// there.
Result<StarterDot> starter_dot(const Rig& rig, const Chapter& chapter, const HiddenCases& hidden);

}  // namespace roofwalk
