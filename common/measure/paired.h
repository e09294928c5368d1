// Is an attempt faster than the starter, and by how much, on a GPU whose clocks wander and that others use as well?
//
// The two are timed in pairs, back to back, in random order: what slows the GPU down slows both of a pair, and their
// ratio stays. The figure is the median of the log ratios, with an interval that holds 95 times in 100, however often
// we looked. A goal is passed when all of the interval meets it and failed when none of it does; else there are more
// pairs, and after the last of them it is "too noisy to tell", which is neither.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"

namespace roofwalk {

// One run of each, right after one another, under the same conditions.
struct TimePair {
  double starter_ns = 0, attempt_ns = 0;
  bool starter_first = true;
};

struct Interval {
  double low = 0, high = 0;
};

// Where the median of what the values were drawn from lies, with this confidence (0 to 1). It needs no law of the
// values, only that they are drawn alike; nothing where they are too few: 6 for 95 %.
std::optional<Interval> median_interval(std::vector<double> values, double confidence);

// What a verdict asks of the times: a speed-up over the starter, or a time of the attempt itself. One of the two is
// set.
struct TimeGoal {
  std::string name;          // in the reports: "pass", "ace"
  double least_speedup = 0;  // starter time over attempt time
  double most_ns = 0;        // what a share of a measured roof comes to
};

enum class Decision { pass, fail, too_noisy };

std::string_view decision_name(Decision decision);  // "pass", "fail", "too noisy to tell"

struct GoalDecision {
  TimeGoal goal;
  Decision decision = Decision::too_noisy;
  std::string reason;  // of too_noisy, one sentence; else empty
};

// The times of one of the two. Noise makes times longer, never shorter, so no mean and no standard deviation stands
// here (Chen, Revels: Robust benchmarking in noisy environments, arXiv 1608.04295). A share of a roof is taken from the
// median and its interval, as the roof is; the minimum is what the GPU can do when nothing disturbs it.
struct TimeSummary {
  double minimum_ns = 0, lower_quartile_ns = 0, median_ns = 0;
  Interval median_interval_ns;
  double scatter = 0;  // of single times, as a share of the median; spikes do not count
  int spikes = 0;      // times more than a fifth above the median
};

struct PairOptions {
  std::vector<TimeGoal> goals;
  int first_pairs = 15;
  int most_pairs = 121;
  double most_seconds = 20;              // no more pairs after that, but for the fewest that an interval needs
  std::uint64_t seed = 1;                // of the order within the pairs
  std::function<double()> seconds = {};  // the clock; empty: the machine's
};

struct PairedTimes {
  std::vector<TimePair> pairs;  // every sample, in the order of the runs
  std::uint64_t seed = 0;
  int looks = 0;          // how often the pairs were judged, the last time included
  double confidence = 0;  // of each interval at each look: all looks together come to 95 %
  double speedup = 0;     // the median of starter time over attempt time
  Interval speedup_interval;
  TimeSummary starter, attempt;
  std::vector<GoalDecision> goals;  // in the order of the options
  std::vector<std::string> notes;   // drift, spikes, scatter: one sentence each

  bool decided() const;  // no goal is too noisy to tell
};

// Times one pair and is told who goes first.
using TimeOnePair = std::function<Result<TimePair>(bool starter_first)>;

// Pairs until each goal is decided, most_pairs are there or most_seconds are over. Without goals: first_pairs.
// Errors: those of `time_pair`, and a time that is no time.
Result<PairedTimes> measure_pairs(const TimeOnePair& time_pair, const PairOptions& options);

// Keys may be added, never renamed or removed: "roofwalk.pairs/1".
Json to_json(const PairedTimes& times);

// How many runs a sample is the mean of, so that together they last 20 us. Each run has a pair of events of its own, as
// L2 is emptied in between. A pair resolves about 0.5 us (CUDA driver API, cuEventElapsedTime): what one pair rounds
// away averages out over the runs, a delay that each pair has alike does not, but both kernels of a comparison have it.
// `launch_ns` is a first, rough time of one run, which may be 0.
int launches_per_sample(double launch_ns);

}  // namespace roofwalk
