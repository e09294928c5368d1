// One run of one problem on a device of its own: the plan is made and run, and the answer is compared. Each trial has
// a new device, so no trial sees data of another one, and their order does not matter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/record/run_record.h"
#include "common/roofline/operations.h"
#include "common/verify/verify.h"
#include "grader/attempt/verdict.h"
#include "grader/rig/rig.h"

namespace roofwalk {

using ExpectedValues = std::function<const std::vector<Expected>&()>;  // called only after the run

struct Trial {
  std::string case_name;  // "n=33, seed 1"
  RunRecord record;
  std::optional<Error> refusal;            // set if the learner's plan or PTX is not allowed
  std::optional<Correctness> correctness;  // nullopt after a refusal or a fault, and if there were no expected values
  int writer_line = 0;                     // the line that wrote the first wrong element; 0: unknown
  bool shows_lines = true;                 // false: a line would reveal a hidden size

  bool was_stopped() const { return refusal || record.fault; }
  bool went_wrong() const { return refusal || record.fault || (correctness && !correctness->correct); }
};

std::string case_name(const Size& size, std::uint64_t seed);

// Limits of a trial. They limit counted work (vgpu/state/work.h), so that an endless loop gets the same verdict on
// every machine. A small trial that reaches its limit twice has taken at most 4 s, a measured one on `classroom` at
// most half a minute; in `grade`, a sanitized run before it takes at most half as long, and as long again if it has to
// be repeated in part, and the measured run, which is sanitized, has as much more. max_seconds is only for trouble of
// the host; no learner's kernel reaches it. Small trials run in parallel, on one thread each, and collect no figures
// unless the answer is wrong; a measured trial may use all threads. Even a slow kernel must be able to end, so for a
// large problem the limit of a measured trial grows: by a fixed amount for each 32 useful multiply-adds, the work of
// one instruction of a warp.
inline const RunOptions kSmallTrial{.max_work = 100'000'000,
                                    .max_seconds = 120,
                                    .threads = 1,
                                    .sanitize = true,
                                    .time = RunOptions::Time::least,
                                    .figures = RunOptions::Figures::none};
RunOptions measured_trial(const Work& work, int threads);

// Runs a measured trial as `grade` does: twice, sanitized, because a kernel that is right at small sizes may have a
// race at this size. The first run collects no figures, and warps miss turns by chance. The second gives the figures;
// it is sanitized, too (not on a real GPU), because a kernel that tells them apart could keep its barriers for the
// first. If there is more work than at classroom's sizes, or the first run takes too long, only some blocks are
// watched. `run` runs the trial with other options.
using RunWith = std::function<Result<Trial>(const RunOptions&)>;
Result<Trial> run_sanitized(const RunOptions& measured, const Work& work, bool on_gpu, const RunWith& run);

// Runs a small trial. If it reaches its limit with all blocks watched, some are watched in a second run: what the
// sanitizer costs depends on how often threads wait for each other.
Result<Trial> run_small_size(const RunWith& run);

// Runs a trial of a size that an instructor chose: at most the work of the measured size. Its limit is a small trial's
// and, of a measured trial's, as large a share as its work is of `measured`. If a large one reaches the limit with all
// blocks watched, some are watched in a second run.
Result<Trial> run_hidden_size(const Work& work, const Work& measured, const RunWith& run);

// The share of the work of `measured`: of its operations or of its bytes, whichever is larger.
double share_of(const Work& work, const Work& measured);

// Limits for the course's own starter. They are wide enough for a slow and busy machine, because the starter always
// ends.
inline RunOptions starter_trial(int threads) {
  return {.max_work = 200'000'000'000, .max_seconds = 7200, .threads = threads};
}

// Runs one trial. Without `expected`, the answer is not compared. An Error means that the harness failed, not the
// learner.
Result<Trial> run_trial(const DeviceFactory& open, const Artifact& artifact, const Problem& problem, std::string name,
                        const RunOptions& limits, const ExpectedValues& expected);

// The same on a device that is open. A module that is kept, loaded by a trial before this one, has its variables as
// that trial left them.
enum class Loading { anew, kept };
Result<Trial> run_trial_on(Device& device, Loading loading, const Artifact& artifact, const Problem& problem,
                           std::string name, const RunOptions& limits, const ExpectedValues& expected);

// Adds the trial's results to the evidence for the verdict.
void add_to_evidence(const Trial& trial, const Artifact& artifact, Evidence& evidence);

}  // namespace roofwalk
