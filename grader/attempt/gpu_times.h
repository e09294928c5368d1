// Figures of an attempt on a real GPU: paired times, and the virtual GPU's bytes if the GPU's are not available.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/measure/paired.h"
#include "grader/attempt/trial.h"

namespace roofwalk {

// A pass or ace goal about time, converted to a limit on time or speedup at the AI of the attempt's dot. There is none
// for goals whose figures are unknown.
struct TimedGoal {
  std::size_t goal = 0;  // its index among the machine's goals
  Grade grade = Grade::pass;
  TimeGoal time;
};
std::vector<TimedGoal> timed_goals(const std::vector<Goal>& goals, const Measurement& measurement);

// Runs the kernel on a virtual GPU with the real GPU's machine figures, whose counts stand in for the real GPU's;
// nullopt if the virtual GPU cannot run the kernel. Needs no GPU, and may take long.
Result<std::optional<RunRecord>> modelled_run(const Rig& rig, const Artifact& artifact, const Problem& problem);

// Replaces the counters in `record` by the modelled ones.
void take_bytes(const RunRecord& modelled, RunRecord& record);

// If the GPU's counters could not be read, models the run and takes its bytes.
Status model_bytes(const Rig& rig, const Artifact& artifact, const Problem& problem, RunRecord& record);

// Times on a real GPU, and its state before and after.
struct GpuTimes {
  PairedTimes pairs;
  int runs_per_sample = 1;               // number of runs whose mean is one sample; each run starts with a cold cache,
                                         // and its result is checked
  std::vector<std::string> notes;        // facts that readers of the times must know, one sentence each
  std::optional<std::string> disturbed;  // if every try was disturbed: the reason why the times decide nothing
  std::optional<GpuState> before, after;
};

// Times the starter and the attempt in pairs, each in its own process, from a cold cache and with its initial buffer
// contents. Every result is checked. If something else slowed the GPU down in the meantime, everything is repeated
// once. Errors: a kernel that was right before is now wrong or ends early; the harness's own trouble.
Result<GpuTimes> time_in_pairs(const Rig& rig, const Artifact& starter, const Artifact& attempt, const Problem& problem,
                               const ExpectedValues& expected, const std::vector<TimedGoal>& goals);

}  // namespace roofwalk
