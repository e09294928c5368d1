// Decides whether an attempt is faster than the starter, and by how much, on a GPU with varying clocks and other
// users.
//
// Both are timed in pairs, back to back, in random order: a disturbance slows both, so their ratio hardly changes. The
// result is the median of the log ratios with a confidence interval, which is widened so that it holds at 95 % even
// though the goals may be judged several times. A goal is passed if the whole interval meets it, and failed if no part
// of the interval does. Otherwise more pairs are timed; after the last one the decision is "too noisy to tell", which
// is neither passed nor failed.
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

// One run of each, back to back, under the same conditions.
struct TimePair {
  double starter_ns = 0, attempt_ns = 0;
  bool starter_first = true;
};

struct Interval {
  double low = 0, high = 0;
};

// Returns a confidence interval for the median of the values' distribution (confidence from 0 to 1). It assumes only
// that all values come from the same distribution. nullopt if there are too few values: 95 % needs 6.
std::optional<Interval> median_interval(std::vector<double> values, double confidence);

// A goal for the times: either a speed-up over the starter or a time of the attempt itself. Exactly one of the two is
// set.
struct TimeGoal {
  std::string name;          // for reports: "pass", "ace"
  double least_speedup = 0;  // starter time over attempt time
  double most_ns = 0;        // the time that corresponds to a share of a measured roof
};

enum class Decision { pass, fail, too_noisy };

std::string_view decision_name(Decision decision);  // "pass", "fail", "too noisy to tell"

struct GoalDecision {
  TimeGoal goal;
  Decision decision = Decision::too_noisy;
  std::string reason;  // for too_noisy, one sentence; otherwise empty
};

// The times of one of the two kernels. Noise only makes times longer, so there is no mean and no standard deviation
// (Chen, Revels: Robust benchmarking in noisy environments, arXiv 1608.04295). Goals for the attempt's own time use the
// median and its interval; the minimum is the time on an undisturbed GPU.
struct TimeSummary {
  double minimum_ns = 0, lower_quartile_ns = 0, median_ns = 0;
  Interval median_interval_ns;
  double scatter = 0;  // scatter of single times, relative to the median; insensitive to spikes
  int spikes = 0;      // times over 1.2 medians
};

struct PairOptions {
  std::vector<TimeGoal> goals;
  int first_pairs = 15;
  int most_pairs = 121;
  double most_seconds = 20;              // no further pairs after this time, except the minimum that an interval
                                         // needs
  std::uint64_t seed = 1;                // for the order within the pairs
  std::function<double()> seconds = {};  // a clock; empty: the machine's
};

struct PairedTimes {
  std::vector<TimePair> pairs;  // all samples, in the order of the runs
  std::uint64_t seed = 0;
  int looks = 0;          // how often the pairs were judged
  double confidence = 0;  // of each interval at each look, so that it is 95 % over all looks
  double speedup = 0;     // the median of starter time over attempt time
  Interval speedup_interval;
  TimeSummary starter, attempt;
  std::vector<GoalDecision> goals;  // in the order of the options
  std::vector<std::string> notes;   // drift, spikes, scatter: one sentence each

  bool decided() const;  // false if some goal is too noisy to tell
};

// Times one pair in the given order.
using TimeOnePair = std::function<Result<TimePair>(bool starter_first)>;

// Times pairs until each goal is decided, there are most_pairs, or most_seconds have passed. Without goals, times
// first_pairs pairs. Errors: those of `time_pair`; an invalid time.
Result<PairedTimes> measure_pairs(const TimeOnePair& time_pair, const PairOptions& options);

// Writes the format "roofwalk.pairs/1". Keys may be added, never renamed or removed.
Json to_json(const PairedTimes& times);

// Returns the number of runs to average in one sample, so that they last 20 us together. Each run has its own pair of
// events, because L2 is cleared in between. A pair of events resolves about 0.5 us (CUDA driver API,
// cuEventElapsedTime): rounding averages out over the runs; a constant delay does not, but it is the same for both
// kernels of a comparison. `launch_ns` is a rough time of one run, which may be 0.
int launches_per_sample(double launch_ns);

}  // namespace roofwalk
