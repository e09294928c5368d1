// Figures of an attempt on a real GPU: paired times, and the virtual GPU's bytes if the card does not tell its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/measure/paired.h"
#include "grader/attempt/trial.h"

namespace roofwalk {

// A pass or ace goal as a limit on time or speedup, at the dot's own AI. Only goals about time whose figures are known.
struct TimedGoal {
  std::size_t goal = 0;  // its index among the goals asked
  Grade grade = Grade::pass;
  TimeGoal time;
};
std::vector<TimedGoal> timed_goals(const std::vector<Goal>& goals, const Measurement& measurement);

// What the virtual GPU counts in place of a card, with the card's figures; nothing if it cannot run the kernel. Needs
// no GPU, and may take long.
Result<std::optional<RunRecord>> modelled_run(const Rig& rig, const Artifact& artifact, const Problem& problem);

// Replaces the counters in `record` by the modelled ones.
void take_bytes(const RunRecord& modelled, RunRecord& record);

// Models the run and takes its bytes if the card's counters could not be read.
Status model_bytes(const Rig& rig, const Artifact& artifact, const Problem& problem, RunRecord& record);

// Times on a real GPU, and its state before and after.
struct GpuTimes {
  PairedTimes pairs;
  int runs_per_sample = 1;               // a sample is their mean; each starts with a cold cache and is compared
  std::vector<std::string> notes;        // what a reader of the times must know, one sentence each
  std::optional<std::string> disturbed;  // why the times decide nothing: every try was disturbed
  std::optional<GpuState> before, after;
};

// Times the starter and the attempt in pairs, each in its own process, from a cold cache and with its buffers as they
// were at first. Every result is compared. If something else slowed the GPU down meanwhile, all is repeated once.
// Errors: either kernel is now wrong or ends early, though it was right before; the harness's own trouble.
Result<GpuTimes> time_in_pairs(const Rig& rig, const Artifact& starter, const Artifact& attempt, const Problem& problem,
                               const ExpectedValues& expected, const std::vector<TimedGoal>& goals);

}  // namespace roofwalk
