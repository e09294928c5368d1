#include "common/measure/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "common/base/check.h"
#include "common/base/json.h"
#include "common/base/rng.h"

namespace roofwalk {
namespace {

constexpr double kWrong = 0.05;  // probability, over all looks, that an interval misses the true value

// Thresholds for notes. kDrift: smaller drift does not matter, because the goals are a few percent apart. kSpike: the
// clock states of a quiet GPU change times by less than 20 %. kScatter: if single times scatter by 5 %, fifteen pairs
// cannot resolve differences below 5 %.
constexpr double kDrift = 0.01, kSpike = 1.2, kScatter = 0.05;
constexpr double kDriftIsSure = 3;  // standard errors of Spearman's rank correlation: one false alarm in 370

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

// Returns a robust estimate of the standard deviation; the factor 1.4826 makes the two equal for a normal distribution.
double spread(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return 1.4826 * median(std::move(distances));
}

template <class Of>
std::vector<double> each(const std::vector<TimePair>& pairs, Of of) {
  std::vector<double> values;
  for (const TimePair& pair : pairs) values.push_back(of(pair));
  return values;
}

double log_ratio(const TimePair& pair) { return std::log(pair.starter_ns / pair.attempt_ns); }
double log_level(const TimePair& pair) { return 0.5 * std::log(pair.starter_ns * pair.attempt_ns); }

// Returns the rank of each value, from 0; equal values share the mean of their ranks.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, last; first < order.size(); first = last) {
    for (last = first + 1; last < order.size() && values[order[last]] == values[order[first]];) ++last;
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = 0.5 * static_cast<double>(first + last - 1);
  }
  return ranks;
}

// Returns Spearman's correlation of the values with their order, in standard errors for independent values.
double drift_in_errors(const std::vector<double>& values) {
  const std::vector<double> ranks = ranks_of(values);
  const double middle = 0.5 * static_cast<double>(values.size() - 1);
  double together = 0, of_ranks = 0, of_order = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double rank = ranks[i] - middle, order = static_cast<double>(i) - middle;
    together += rank * order;
    of_ranks += rank * rank;
    of_order += order * order;
  }
  return of_ranks == 0 ? 0 : together / std::sqrt(of_ranks * of_order) * std::sqrt(2 * middle);
}

// Returns the relative change from the first to the last value, given the values' logarithms: the median slope over all
// pairs of values (Theil, Sen). 0 if the correlation with the order is not significant.
double drift_of(const std::vector<double>& logs) {
  if (std::abs(drift_in_errors(logs)) < kDriftIsSure) return 0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t j = i + 1; j < logs.size(); ++j)
      slopes.push_back((logs[j] - logs[i]) / static_cast<double>(j - i));
  }
  return std::expm1(median(std::move(slopes)) * static_cast<double>(logs.size() - 1));
}

TimeSummary summary_of(std::vector<double> times_ns, double confidence) {
  TimeSummary summary;
  summary.median_interval_ns = *median_interval(times_ns, confidence);
  std::sort(times_ns.begin(), times_ns.end());
  summary.minimum_ns = times_ns.front();
  summary.lower_quartile_ns = quantile(times_ns, 0.25);
  summary.median_ns = quantile(times_ns, 0.5);
  summary.scatter = spread(times_ns) / summary.median_ns;
  summary.spikes = static_cast<int>(
      std::count_if(times_ns.begin(), times_ns.end(), [&](double t) { return t > kSpike * summary.median_ns; }));
  return summary;
}

// Decides for each pair which of the two kernels runs first. In every two pairs, each kernel runs first once, so that
// the cost of running second affects both equally.
std::vector<bool> orders(int pairs, std::uint64_t seed) {
  Rng rng(seed, "pair order");
  std::vector<bool> starter_first;
  while (static_cast<int>(starter_first.size()) < pairs) {
    const bool first = (rng.next() >> 63) != 0;
    starter_first.push_back(first);
    starter_first.push_back(!first);
  }
  return starter_first;
}

int next_look(int pairs, const PairOptions& options) { return std::min(2 * pairs + 1, options.most_pairs); }

int planned_looks(const PairOptions& options) {
  if (options.goals.empty()) return 1;
  int looks = 1;
  for (int pairs = options.first_pairs; pairs < options.most_pairs; pairs = next_look(pairs, options)) ++looks;
  return looks;
}

// Returns the fewest pairs for an interval of this confidence. The median is below the smallest or above the largest of
// n values with probability 2^(1-n).
int fewest_pairs(double confidence) { return static_cast<int>(std::ceil(1 - std::log2(1 - confidence))); }

std::string percent(double share) { return fmt::format("{:.2g} %", 100 * std::abs(share)); }

// Decides about one goal, without giving a reason.
Decision decide(const TimeGoal& goal, const PairedTimes& times) {
  if (goal.least_speedup > 0) {
    if (times.speedup_interval.low >= goal.least_speedup) return Decision::pass;
    return times.speedup_interval.high < goal.least_speedup ? Decision::fail : Decision::too_noisy;
  }
  const Interval& time = times.attempt.median_interval_ns;
  if (time.high <= goal.most_ns) return Decision::pass;
  return time.low > goal.most_ns ? Decision::fail : Decision::too_noisy;
}

// Computes the figures that the goals need, without notes.
void judge(PairedTimes& times, const std::vector<TimeGoal>& goals) {
  const std::vector<double> ratios = each(times.pairs, log_ratio);
  const Interval logs = *median_interval(ratios, times.confidence);
  times.speedup = std::exp(median(ratios));
  times.speedup_interval = {std::exp(logs.low), std::exp(logs.high)};
  times.starter = summary_of(each(times.pairs, [](const TimePair& p) { return p.starter_ns; }), times.confidence);
  times.attempt = summary_of(each(times.pairs, [](const TimePair& p) { return p.attempt_ns; }), times.confidence);
  times.goals.clear();
  for (const TimeGoal& goal : goals) times.goals.push_back({goal, decide(goal, times), {}});
}

// Returns the effect of running second; nullopt if the intervals of the two orders' ratios overlap.
std::optional<double> cost_of_second(const std::vector<TimePair>& pairs) {
  std::vector<double> starter_first, attempt_first;
  for (const TimePair& pair : pairs) (pair.starter_first ? starter_first : attempt_first).push_back(log_ratio(pair));
  const auto one = median_interval(starter_first, 0.99), other = median_interval(attempt_first, 0.99);
  if (!one || !other || (one->low <= other->high && other->low <= one->high)) return std::nullopt;
  return std::expm1(0.5 * (median(std::move(attempt_first)) - median(std::move(starter_first))));
}

std::vector<std::string> notes_of(const PairedTimes& times) {
  std::vector<std::string> notes;
  const auto turn = [](double share) { return share > 0 ? "longer" : "shorter"; };
  if (const double drift = drift_of(each(times.pairs, log_level)); std::abs(drift) >= kDrift) {
    notes.push_back(fmt::format("the times of both became {} {} while they were taken; their ratio is not affected",
                                percent(drift), turn(drift)));
  }
  if (const double drift = drift_of(each(times.pairs, log_ratio)); std::abs(drift) >= kDrift) {
    notes.push_back(
        fmt::format("the speed-up itself {} by {} from the first pair to the last: the GPU's state affects the two "
                    "differently, so measure again when it is warm and idle",
                    drift > 0 ? "rose" : "fell", percent(drift)));
  }
  if (const auto cost = cost_of_second(times.pairs); cost && std::abs(*cost) >= kDrift) {
    notes.push_back(
        fmt::format("the second run of a pair took {} {}; each was second equally often", percent(*cost), turn(*cost)));
  }
  if (const int spikes = times.starter.spikes + times.attempt.spikes; spikes > 0) {
    notes.push_back(fmt::format("{} of {} times were more than a fifth above the median, which they do not affect",
                                spikes, 2 * times.pairs.size()));
  }
  if (const double scatter = std::max(times.starter.scatter, times.attempt.scatter); scatter > kScatter) {
    notes.push_back(fmt::format("single times scatter by {}: the GPU is not idle", percent(scatter)));
  }
  return notes;
}

// Returns the reason why the pairs do not decide this goal, and advice.
std::string reason_of(const TimeGoal& goal, const PairedTimes& times, const PairOptions& options) {
  const bool ratio = goal.least_speedup > 0;
  const double asked = ratio ? goal.least_speedup : goal.most_ns;
  const double value = ratio ? times.speedup : times.attempt.median_ns;
  const Interval interval = ratio ? times.speedup_interval : times.attempt.median_interval_ns;
  const auto shown = [&](double x) { return ratio ? fmt::format("x{:.4g}", x) : fmt::format("{:.4g} us", x * 1e-3); };
  std::string reason =
      fmt::format("{} {}, measured {}, anything from {} to {} after {} pairs", ratio ? "asked for" : "allowed",
                  shown(asked), shown(value), shown(interval.low), shown(interval.high), times.pairs.size());
  reason += static_cast<int>(times.pairs.size()) >= options.most_pairs
                ? ", and more are not timed"
                : fmt::format(", and the {:.3g} s for them are over", options.most_seconds);
  if (interval.high / interval.low < 1 + 2 * kDrift) return reason + "; it is that close to the goal";
  return reason + fmt::format("; single times scatter by {}: measure again when nobody else uses the GPU",
                              percent(std::max(times.starter.scatter, times.attempt.scatter)));
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Json to_json(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json to_json(const TimeSummary& summary) {
  return {{"minimum_ns", summary.minimum_ns}, {"lower_quartile_ns", summary.lower_quartile_ns},
          {"median_ns", summary.median_ns},   {"median_interval_ns", to_json(summary.median_interval_ns)},
          {"scatter", summary.scatter},       {"spikes", summary.spikes}};
}

}  // namespace

// Takes the probability that the median lies between the k-th smallest and the k-th largest value from the binomial
// distribution. Only a few probabilities are possible, for 15 values for example 96.5 % and 88.2 %; between two of
// them, the ends of the interval are interpolated (Hettmansperger, Sheather: Confidence intervals based on interpolated
// order statistics, Statistics and Probability Letters 4, 1986).
//
// The percentile bootstrap of a median chooses its ends from the same few values, and its confidence is too low for
// small samples: with 15 pairs of 3 % noise, spikes and drift, it contained the true value in 91.8 % of 2,000
// simulations of 2,000 resamples each; this method did in 94.9 %. It also needs no random numbers.
std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  ROOFWALK_CHECK(confidence > 0 && confidence < 1);
  const auto n = static_cast<double>(values.size());
  double log_term = -n * std::log(2.0);               // log of the probability of k values below the median
  double outside = 2 * std::exp(log_term), next = 0;  // probability that the median is outside, for k and k + 1
  if (values.empty() || 1 - outside < confidence) return std::nullopt;
  std::sort(values.begin(), values.end());
  std::size_t k = 0;
  for (;; ++k) {
    const auto below = static_cast<double>(k);
    log_term += std::log((n - below) / (below + 1));
    next = std::min(1.0, outside + 2 * std::exp(log_term));
    if (1 - next < confidence) break;
    outside = next;
  }
  const double way = (1 - outside - confidence) / (next - outside), d = static_cast<double>(k + 1);
  const double inward = (n - d) * way / (d + (n - 2 * d) * way);
  const std::size_t last = values.size() - 1;
  const std::size_t low = std::min(k + 1, last / 2), high = std::max(last - k - 1, last - last / 2);
  return Interval{std::lerp(values[k], values[low], inward), std::lerp(values[last - k], values[high], inward)};
}

std::string_view decision_name(Decision decision) {
  switch (decision) {
    case Decision::pass:
      return "pass";
    case Decision::fail:
      return "fail";
    case Decision::too_noisy:
      return "too noisy to tell";
  }
  return "";
}

bool PairedTimes::decided() const {
  return std::none_of(goals.begin(), goals.end(),
                      [](const GoalDecision& goal) { return goal.decision == Decision::too_noisy; });
}

// A look judges the goals after some number of pairs. Each look is another chance of an error, so each possible look
// gets an equal part of the 5 % (Bonferroni). Of 2,000 simulated attempts that were exactly as fast as the goal, four
// looks at 95 % each declared 141 faster and 137 slower; with the 5 % divided, 32 and 35.
Result<PairedTimes> measure_pairs(const TimeOnePair& time_pair, const PairOptions& options) {
  for (const TimeGoal& goal : options.goals) ROOFWALK_CHECK((goal.least_speedup > 0) != (goal.most_ns > 0));
  PairedTimes times;
  times.seed = options.seed;
  times.confidence = 1 - kWrong / planned_looks(options);
  const int fewest = fewest_pairs(times.confidence);
  ROOFWALK_CHECK(fewest <= options.first_pairs && options.first_pairs <= options.most_pairs);
  const auto seconds = options.seconds ? options.seconds : steady_seconds;
  const double end = seconds() + options.most_seconds;
  const std::vector<bool> starter_first = orders(options.most_pairs, options.seed);
  for (int look = options.first_pairs;; look = next_look(look, options)) {
    bool over = false;
    while (static_cast<int>(times.pairs.size()) < look && !over) {
      const bool first = starter_first[times.pairs.size()];
      ROOFWALK_TRY(TimePair pair, time_pair(first));
      for (const double time : {pair.starter_ns, pair.attempt_ns}) {
        if (std::isfinite(time) && time > 0) continue;
        return Error{.message = fmt::format("the GPU's clock gave {} ns for a run", time),
                     .advice = "measure again; roofwalk doctor looks at the GPU"};
      }
      pair.starter_first = first;
      times.pairs.push_back(pair);
      over = seconds() >= end && static_cast<int>(times.pairs.size()) >= fewest;
    }
    judge(times, options.goals);
    ++times.looks;
    if (times.decided() || over || look == options.most_pairs) break;
  }
  for (GoalDecision& goal : times.goals) {
    if (goal.decision == Decision::too_noisy) goal.reason = reason_of(goal.goal, times, options);
  }
  times.notes = notes_of(times);
  return times;
}

Json to_json(const PairedTimes& times) {
  Json json = {{"schema", "roofwalk.pairs/1"},
               {"seed", times.seed},
               {"looks", times.looks},
               {"confidence", times.confidence},
               {"speedup", times.speedup},
               {"speedup_interval", to_json(times.speedup_interval)},
               {"starter", to_json(times.starter)},
               {"attempt", to_json(times.attempt)},
               {"goals", Json::array()},
               {"notes", times.notes}};
  for (const GoalDecision& decision : times.goals) {
    Json goal = {{"name", decision.goal.name}, {"decision", decision_name(decision.decision)}};
    if (decision.goal.least_speedup > 0) goal["least_speedup"] = decision.goal.least_speedup;
    if (decision.goal.most_ns > 0) goal["most_ns"] = decision.goal.most_ns;
    if (!decision.reason.empty()) goal["reason"] = decision.reason;
    json["goals"].push_back(std::move(goal));
  }
  Json& samples = json["samples"];
  for (const TimePair& pair : times.pairs) {
    samples["starter_ns"].push_back(pair.starter_ns);
    samples["attempt_ns"].push_back(pair.attempt_ns);
    samples["starter_first"].push_back(pair.starter_first);
  }
  return json;
}

int launches_per_sample(double launch_ns) {
  constexpr double kSample = 20e3, kResolution = 500;  // times below the events' resolution are rounded up
  ROOFWALK_CHECK(launch_ns >= 0);
  return static_cast<int>(std::ceil(kSample / std::clamp(launch_ns, kResolution, kSample)));
}

}  // namespace roofwalk
