// One problem, once, on a device of its own: the plan made and run, the answer compared. A fresh device for each trial
// means that no trial can see what another left behind, and that their order cannot matter.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/roofline/operations.h"
#include "common/verify/verify.h"
#include "grader/attempt/verdict.h"
#include "grader/rig/bench.h"

namespace roofwalk {

using ExpectedValues = std::function<const std::vector<Expected>&()>;  // called only once the run is over

struct Trial {
  std::string case_name;  // "n=33, seed 1"
  RunRecord record;
  std::optional<Error> refusal;            // the learner's plan or PTX is not allowed
  std::optional<Correctness> correctness;  // absent after a refusal or a fault, and where nothing was expected
  int writer_line = 0;                     // that wrote the first wrong element; 0 unknown

  bool was_stopped() const { return refusal || record.fault; }
  bool went_wrong() const { return refusal || record.fault || (correctness && !correctness->correct); }
};

std::string case_name(const Size& size, std::uint64_t seed);

// How long a trial may run: a small shape is over in a moment, whatever the kernel. Counted in work (vgpu/work.h), so
// that an endless loop gets the same answer on every machine; a small trial takes 2 s at most then, a measured one on
// `classroom` half a minute. The clock only guards against trouble with the host: who is past it is no learner. Of a
// small trial nobody wants figures, but where its answer is wrong. Small trials run side by side, each on one thread;
// the measured one may have all. A slow kernel ends too, so a large problem gets more: so much work for each warp's
// worth of multiply-adds.
inline const RunOptions kSmallTrial{.max_work = 100'000'000,
                                    .max_seconds = 120,
                                    .threads = 1,
                                    .sanitize = true,
                                    .time = RunOptions::Time::least,
                                    .figures = RunOptions::Figures::none};
RunOptions measured_trial(const Work& work, int threads);

// The same, sanitized: what is right at small sizes may race at this one. All blocks are watched where the work is the
// classroom GPU's, of larger grids some (RunOptions::sanitized_blocks). On one thread.
RunOptions sanitized(RunOptions measured, const Work& work);

// The course's own starter is known to end, on a slow and busy machine too.
inline RunOptions starter_trial(int threads) {
  return {.max_work = 200'000'000'000, .max_seconds = 7200, .threads = threads};
}

// Without `expected` nothing is compared. Errors are the harness's own trouble.
Result<Trial> run_trial(const DeviceFactory& open, const Artifact& artifact, const Problem& problem, std::string name,
                        const RunOptions& limits, const ExpectedValues& expected);

// Puts what the trial found where the judge looks for it.
void add_to_evidence(const Trial& trial, const Artifact& artifact, Evidence& evidence);

}  // namespace roofwalk
