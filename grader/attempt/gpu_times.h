// Figures of an attempt on a real GPU: paired times, and the virtual GPU's bytes if the GPU's counters cannot be read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/measure/paired.h"
#include "grader/attempt/trial.h"

namespace roofwalk {

// A goal about speed, for the grade pass or ace, as a limit on the time or the speedup. For a share of the roof, the
// limit is the time that would give a dot at the attempt's AI that share; if the roof at that AI is unknown, there is
// no TimedGoal.
struct TimedGoal {
  std::size_t goal = 0;  // its index among the machine's goals
  Grade grade = Grade::pass;
  TimeGoal time;
};
std::vector<TimedGoal> timed_goals(const std::vector<Goal>& goals, const Measurement& measurement);

// Runs the kernel on a virtual GPU that has the real GPU's machine figures. The counts of this run stand in for the
// real GPU's. nullopt if the virtual GPU cannot run the kernel. Needs no GPU, and may take long.
Result<std::optional<RunRecord>> modelled_run(const Rig& rig, const Artifact& artifact, const Problem& problem);

// Replaces the counters in `record` by those of the modelled run.
void take_bytes(const RunRecord& modelled, RunRecord& record);

// If the GPU's counters could not be read, replaces those in `record` by the counters of a modelled run.
Status model_bytes(const Rig& rig, const Artifact& artifact, const Problem& problem, RunRecord& record);

// Times on a real GPU, and its state before and after.
struct GpuTimes {
  PairedTimes pairs;
  int runs_per_sample = 1;               // number of runs whose mean is one sample; each run starts with a cold cache,
                                         // and its result is checked
  std::vector<std::string> notes;        // facts that readers of the times must know, one sentence each
  std::optional<std::string> disturbed;  // if every try was disturbed: why these times must not decide a goal
  std::optional<GpuState> before, after;
};

// Times the starter and the attempt in pairs, each in its own process. Every run starts with a cold cache and the
// initial contents of the buffers, and every result is checked. If something else slowed the GPU down during the
// measurement, all pairs are measured once more. Errors: a kernel that was right before is now wrong or ends early; the
// harness itself fails.
Result<GpuTimes> time_in_pairs(const Rig& rig, const Artifact& starter, const Artifact& attempt, const Problem& problem,
                               const ExpectedValues& expected, const std::vector<TimedGoal>& goals);

}  // namespace roofwalk
