// Figures of an attempt on a real GPU: times of pairs, and the virtual GPU's bytes where the card tells none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/measure/paired.h"
#include "grader/attempt/trial.h"

namespace roofwalk {

// The time that a goal comes to, for the dot's own AI, for a pass and for an ace. Only goals about time, and not those
// whose figure is not known.
struct TimedGoal {
  std::size_t goal = 0;  // its place among those asked
  Grade grade = Grade::pass;
  TimeGoal time;
};
std::vector<TimedGoal> timed_goals(const std::vector<Goal>& goals, const Measurement& measurement);

// What the virtual GPU counts in a card's place, with the card's figures; nothing where it cannot run the kernel. It
// needs no GPU, and may take long.
Result<std::optional<RunRecord>> modelled_run(const Bench& bench, const Artifact& artifact, const Problem& problem);

// Puts what was modelled in the place of what the card counted, or did not.
void take_bytes(const RunRecord& modelled, RunRecord& record);

// Where the card's counters may not be read: both.
Status model_bytes(const Bench& bench, const Artifact& artifact, const Problem& problem, RunRecord& record);

// Times on a real GPU, and what it did meanwhile.
struct GpuTimes {
  PairedTimes pairs;
  int runs_per_sample = 1;               // a sample is the mean of so many, each from a cold cache and compared
  std::vector<std::string> notes;        // what a reader of the times must know, a sentence each
  std::optional<std::string> disturbed;  // why they decide nothing: something else was going on, each time we tried
  std::optional<GpuState> before, after;
};

// The starter and the attempt in pairs, each in a process of its own, each from a cold cache and with its buffers as
// they were at first. What each computes is compared every time. Where something else slowed the GPU down meanwhile,
// everything is done again, once. Errors: either is wrong or ends early now, though it was right before; the harness's
// own trouble.
Result<GpuTimes> time_in_pairs(const Bench& bench, const Artifact& starter, const Artifact& attempt,
                               const Problem& problem, const ExpectedValues& expected,
                               const std::vector<TimedGoal>& goals);

}  // namespace roofwalk
