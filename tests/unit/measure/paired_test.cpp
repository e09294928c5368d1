#include "common/measure/paired.h"
#include "common/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "common/base/rng.h"

namespace roofwalk {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Disturbances of a GPU's times, with known size.
struct Noise {
  double scatter = 0.01;   // standard deviation of a time
  double spikes = 0.03;    // share of times that take 30 % longer
  double drift = 0.06;     // from the first to the last of `runs` runs
  double second = 0;       // penalty for running second
  double ratio_drift = 0;  // drift of the starter's time alone
  int runs = 30;
};

// Two kernels whose true times are known; the starter takes 100 us.
class Kernels {
 public:
  Kernels(double speedup, const Noise& noise, std::uint64_t seed) : speedup_(speedup), noise_(noise), rng_(seed) {}

  Result<TimePair> time_pair(bool starter_first) {
    TimePair pair;
    for (const bool starter : {starter_first, !starter_first}) {
      (starter ? pair.starter_ns : pair.attempt_ns) = run(starter) * (starter == starter_first ? 1 : 1 + noise_.second);
    }
    return pair;
  }

  double run(bool starter) {
    const double at = static_cast<double>(runs_++) / noise_.runs;
    double ns = (starter ? 1e5 : 1e5 / speedup_) * (1 + noise_.drift * at) * std::exp(noise_.scatter * normal());
    if (starter) ns *= 1 + noise_.ratio_drift * at;
    return rng_.uniform() < noise_.spikes ? 1.3 * ns : ns;
  }

  TimeOnePair callback() {
    return [this](bool starter_first) { return time_pair(starter_first); };
  }

 private:
  double normal() {  // Box-Muller
    const double radius = std::sqrt(-2 * std::log(1 - rng_.uniform()));
    return radius * std::cos(2 * std::numbers::pi * rng_.uniform());
  }

  double speedup_;
  Noise noise_;
  Rng rng_;
  int runs_ = 0;
};

PairOptions asks_for(std::vector<double> speedups, std::uint64_t seed = 1) {
  PairOptions options;
  for (const double speedup : speedups) options.goals.push_back({.name = "goal", .least_speedup = speedup});
  options.seed = seed;
  options.seconds = [] { return 0.0; };
  return options;
}

PairedTimes measured(double speedup, const Noise& noise, const PairOptions& options, std::uint64_t seed = 1) {
  Kernels kernels(speedup, noise, seed);
  auto times = measure_pairs(kernels.callback(), options);
  EXPECT_TRUE(times);
  return *std::move(times);
}

bool holds(const Interval& interval, double truth) { return interval.low <= truth && truth <= interval.high; }

TEST(MedianInterval, IsTheOneOfTheTables) {
  // Of 15 values, the 4th smallest and the 4th largest bound a 96.48 % interval for the median, the 5th smallest and
  // the 5th largest one of 88.15 %. Of 8 values, the smallest and the largest bound one of 99.22 %.
  std::vector<double> fifteen = {3, 1, 2, 15, 14, 13, 4, 5, 6, 12, 11, 10, 7, 8, 9};
  const auto exact = median_interval(fifteen, 1 - 2 * 576.0 / 32768);
  ASSERT_TRUE(exact);
  EXPECT_NEAR(exact->low, 4, 1e-6);
  EXPECT_NEAR(exact->high, 12, 1e-6);
  const auto between = median_interval(fifteen, 0.95);
  EXPECT_GT(between->low, 4);
  EXPECT_LT(between->low, 5);
  EXPECT_NEAR(between->low + between->high, 16, 1e-9);
  EXPECT_NEAR(median_interval({1, 2, 3, 4, 5, 6, 7, 8}, 1 - 2.0 / 256)->low, 1, 1e-9);
}

TEST(MedianInterval, NeedsEnoughValues) {
  EXPECT_FALSE(median_interval({}, 0.95));
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}, 0.95));
  ASSERT_TRUE(median_interval({1, 2, 3, 4, 5, 6}, 0.95));
  EXPECT_TRUE(holds(*median_interval({1, 2, 3, 4, 5, 6}, 0.95), 3.5));
  EXPECT_TRUE(holds(*median_interval({1, 2}, 0.3), 1.5));
  EXPECT_EQ(median_interval(std::vector<double>(2000, 7.0), 0.95)->low, 7);
}

TEST(MedianInterval, HoldsTheTruthNinetyFiveTimesInAHundred) {
  constexpr int kSimulations = 2000;
  for (const int pairs : {8, 15, 31, 121}) {
    for (const double scatter : {0.005, 0.03}) {
      if (pairs == 8 && scatter < 0.03)
        continue;  // with eight pairs of steady times the interval holds the truth more often, which is harmless
      int held = 0;
      for (int i = 0; i < kSimulations; ++i) {
        Kernels kernels(1.05, {.scatter = scatter, .runs = 2 * pairs}, static_cast<std::uint64_t>(i));
        Rng order(static_cast<std::uint64_t>(i), "order");
        std::vector<double> logs;
        while (static_cast<int>(logs.size()) < pairs) {
          const auto pair = kernels.time_pair((order.next() & 1) != 0);
          logs.push_back(std::log(pair->starter_ns / pair->attempt_ns));
        }
        held += holds(*median_interval(std::move(logs), 0.95), std::log(1.05));
      }
      EXPECT_GE(held, 0.93 * kSimulations) << pairs << " pairs, " << scatter;
      EXPECT_LE(held, 0.97 * kSimulations) << pairs << " pairs, " << scatter;
    }
  }
}

TEST(Pairs, AllLooksTogetherHoldTheTruthNinetyFiveTimesInAHundred) {
  // The goal equals the true value, so every decision is wrong. There is a decision only if the interval of some look
  // misses the true value.
  constexpr int kSimulations = 2000;
  int missed = 0, wrong_passes = 0;
  for (int i = 0; i < kSimulations; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const PairedTimes times = measured(1, {.scatter = 0.02, .runs = 242}, asks_for({1}, seed), seed);
    missed += times.decided();
    wrong_passes += times.goals[0].decision == Decision::pass;
  }
  RecordProperty("missed", missed);
  RecordProperty("wrong_passes", wrong_passes);
  EXPECT_GE(missed, 0.03 * kSimulations);
  EXPECT_LE(missed, 0.07 * kSimulations);
  EXPECT_LE(wrong_passes, 0.035 * kSimulations);  // 2.5 %, and three standard errors of 2,000 simulations
}

TEST(Pairs, FindAGainOfFivePercentUnderADriftOfSix) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Noise noise = {.scatter = 0.003};
    const PairedTimes times = measured(1.05, noise, asks_for({1.03}, seed), seed);
    EXPECT_NEAR(times.speedup, 1.05, 0.006);
    EXPECT_EQ(times.goals[0].decision, Decision::pass) << seed;
    EXPECT_EQ(times.pairs.size(), 15u);

    // If all runs of the starter came first, half of the drift would look like a loss.
    Kernels kernels(1.05, noise, seed);
    std::vector<double> starter, attempt;
    for (int i = 0; i < 15; ++i) starter.push_back(kernels.run(true));
    for (int i = 0; i < 15; ++i) attempt.push_back(kernels.run(false));
    std::nth_element(starter.begin(), starter.begin() + 7, starter.end());
    std::nth_element(attempt.begin(), attempt.begin() + 7, attempt.end());
    EXPECT_LT(starter[7] / attempt[7], 1.03);
  }
}

TEST(Pairs, ALossIsAFailAndBothGoalsAreToldApart) {
  const PairedTimes slower = measured(0.9, {}, asks_for({1, 1.5}));
  EXPECT_EQ(slower.goals[0].decision, Decision::fail);
  EXPECT_EQ(slower.goals[1].decision, Decision::fail);
  EXPECT_TRUE(slower.decided());
  const PairedTimes between = measured(1.2, {}, asks_for({1, 1.5}));
  EXPECT_EQ(between.goals[0].decision, Decision::pass);
  EXPECT_EQ(between.goals[1].decision, Decision::fail);
  EXPECT_THAT(between.goals[0].reason, IsEmpty());
  EXPECT_EQ(between.looks, 1);
}

TEST(Pairs, AGoalTooCloseGetsMorePairsUntilItIsDecided) {
  int passed = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PairedTimes times = measured(1.05, {.scatter = 0.02, .runs = 242}, asks_for({1.03, 1.5}, seed), seed);
    EXPECT_NE(times.goals[0].decision, Decision::fail);
    EXPECT_EQ(times.goals[1].decision, Decision::fail);
    EXPECT_EQ(times.pairs.size(), (std::array{15u, 31u, 63u, 121u})[static_cast<std::size_t>(times.looks) - 1]);
    passed += times.goals[0].decision == Decision::pass && times.looks > 1;
  }
  EXPECT_GE(passed, 10);
}

TEST(Pairs, SayWhenItIsTooNoisyAndWhy) {
  const PairedTimes noisy = measured(1.05, {.scatter = 0.1, .runs = 242}, asks_for({1.05}));
  ASSERT_EQ(noisy.goals[0].decision, Decision::too_noisy);
  EXPECT_FALSE(noisy.decided());
  EXPECT_EQ(noisy.pairs.size(), 121u);
  EXPECT_EQ(noisy.looks, 4);
  EXPECT_THAT(noisy.goals[0].reason, AllOf(HasSubstr("asked for x1.05, measured x"), HasSubstr("after 121 pairs"),
                                           HasSubstr("more are not timed"), HasSubstr("nobody else uses the GPU")));
  EXPECT_THAT(noisy.notes, Contains(HasSubstr("single times scatter by")));

  const PairedTimes close = measured(1.05, {.scatter = 0.002, .spikes = 0, .drift = 0}, asks_for({1.05}));
  ASSERT_EQ(close.goals[0].decision, Decision::too_noisy);
  EXPECT_THAT(close.goals[0].reason, HasSubstr("that close to the goal"));
  EXPECT_THAT(close.notes, IsEmpty());
}

TEST(Pairs, StopWhenTheTimeIsOver) {
  double now = 100;
  PairOptions options = asks_for({1.05});
  options.seconds = [&] { return now; };
  const auto slow = [&](double pair_s) {
    Kernels kernels(1.05, {.scatter = 0.1, .runs = 242}, 1);
    return *measure_pairs(
        [&](bool starter_first) {
          now += pair_s;
          return kernels.time_pair(starter_first);
        },
        options);
  };
  const PairedTimes some = slow(0.9);
  EXPECT_EQ(some.pairs.size(), 23u);  // the last one began before 20 s had passed
  EXPECT_EQ(some.looks, 2);
  EXPECT_THAT(some.goals[0].reason, HasSubstr("the 20 s for them are over"));
  EXPECT_EQ(slow(60).pairs.size(), 8u);  // the minimum for the interval
}

TEST(Pairs, GoInRandomOrderThatTheSeedRepeats) {
  const auto order_of = [](std::uint64_t seed) {
    std::vector<bool> order;
    for (const TimePair& pair : measured(1.05, {.scatter = 0.1}, asks_for({1.05}, seed)).pairs) {
      order.push_back(pair.starter_first);
    }
    return order;
  };
  const std::vector<bool> order = order_of(5);
  ASSERT_EQ(order.size(), 121u);
  EXPECT_EQ(order, order_of(5));
  EXPECT_NE(order, order_of(6));
  const auto firsts = std::count(order.begin(), order.end(), true);
  EXPECT_TRUE(firsts == 60 || firsts == 61) << firsts;
  EXPECT_NE(std::adjacent_find(order.begin(), order.end()), order.end());  // the order is not simply A B A B
}

TEST(Pairs, ACostOfGoingSecondFallsOnBoth) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PairedTimes times =
        measured(1.05, {.scatter = 0.003, .spikes = 0, .drift = 0, .second = 0.03}, asks_for({1.05}, seed), seed);
    EXPECT_NEAR(times.speedup, 1.05, 0.034);
    EXPECT_TRUE(holds(times.speedup_interval, 1.05));
    EXPECT_THAT(times.notes, ElementsAre(AllOf(HasSubstr("second run of a pair took"), HasSubstr("% longer"))));
  }
}

TEST(Pairs, NoteDriftAndSpikesButNotWhatIsNone) {
  const PairedTimes drifting = measured(1.05, {.scatter = 0.003, .spikes = 0}, asks_for({1}));
  EXPECT_THAT(drifting.notes, ElementsAre(AllOf(HasSubstr("times of both became"), HasSubstr("longer"))));
  const PairedTimes cooling = measured(1.05, {.scatter = 0.003, .spikes = 0, .drift = -0.06}, asks_for({1}));
  EXPECT_THAT(cooling.notes, ElementsAre(HasSubstr("shorter")));
  const PairedTimes apart =
      measured(1.05, {.scatter = 0.003, .spikes = 0, .drift = 0, .ratio_drift = 0.06}, asks_for({1}));
  EXPECT_THAT(apart.notes, Contains(HasSubstr("the speed-up itself rose by")));
  const PairedTimes spiky = measured(1.05, {.scatter = 0.003, .spikes = 0.2, .drift = 0}, asks_for({1}));
  EXPECT_THAT(spiky.notes,
              ElementsAre(HasSubstr(std::to_string(spiky.starter.spikes + spiky.attempt.spikes) + " of 30")));
  int noted = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    noted += !measured(1.05, {.scatter = 0.02, .spikes = 0, .drift = 0}, asks_for({1}, seed), seed).notes.empty();
  }
  EXPECT_LE(noted, 6);
}

TEST(Pairs, SumUpTheTimesOfEachAndJudgeATimeOfItsOwn) {
  PairOptions options = asks_for({});
  options.goals = {
      {.name = "pass", .most_ns = 101e3}, {.name = "ace", .most_ns = 99e3}, {.name = "at", .most_ns = 1e5}};
  const PairedTimes times = measured(1, {.scatter = 0.005, .spikes = 0.1, .drift = 0}, options, 3);
  EXPECT_EQ(times.goals[0].decision, Decision::pass);
  EXPECT_EQ(times.goals[1].decision, Decision::fail);
  EXPECT_EQ(times.goals[2].decision, Decision::too_noisy);
  EXPECT_THAT(times.goals[2].reason, HasSubstr("allowed 100 us, measured "));
  const TimeSummary& attempt = times.attempt;
  EXPECT_NEAR(attempt.median_ns, 1e5, 300);
  EXPECT_TRUE(holds(attempt.median_interval_ns, attempt.median_ns));
  EXPECT_LT(attempt.minimum_ns, attempt.lower_quartile_ns);
  EXPECT_LT(attempt.lower_quartile_ns, attempt.median_ns);
  EXPECT_NEAR(attempt.scatter, 0.005, 0.002);  // spikes of 30 % do not count
  EXPECT_GT(attempt.spikes, 3);
}

TEST(Pairs, WithoutGoalsThereIsOneLook) {
  const PairedTimes times = measured(1.05, {.scatter = 0.1}, asks_for({}));
  EXPECT_EQ(times.pairs.size(), 15u);
  EXPECT_DOUBLE_EQ(times.confidence, 0.95);
  EXPECT_TRUE(times.decided());
}

TEST(Pairs, HandOnErrorsAndRefuseWhatIsNoTime) {
  const auto failed = measure_pairs([](bool) -> Result<TimePair> { return Error{.message = "the GPU is gone"}; }, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the GPU is gone");
  for (const double time : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto refused = measure_pairs([&](bool) { return TimePair{.starter_ns = 5, .attempt_ns = time}; }, {});
    ASSERT_FALSE(refused) << time;
    EXPECT_THAT(refused.error().message, HasSubstr("clock gave"));
  }
}

TEST(Pairs, KeepEverySampleInTheirJson) {
  const PairedTimes times = measured(1.05, {.scatter = 0.1, .runs = 242}, asks_for({1.05, 3}));
  const Json json = to_json(times);
  EXPECT_EQ(json["schema"], "roofwalk.pairs/1");
  ASSERT_EQ(json["samples"]["starter_ns"].size(), times.pairs.size());
  for (std::size_t i = 0; i < times.pairs.size(); ++i) {
    EXPECT_EQ(json["samples"]["starter_ns"][i], times.pairs[i].starter_ns);
    EXPECT_EQ(json["samples"]["attempt_ns"][i], times.pairs[i].attempt_ns);
    EXPECT_EQ(json["samples"]["starter_first"][i], times.pairs[i].starter_first);
  }
  EXPECT_EQ(json["goals"][0]["decision"], "too noisy to tell");
  EXPECT_EQ(json["goals"][0]["reason"], times.goals[0].reason);
  EXPECT_EQ(json["goals"][1]["decision"], "fail");
  EXPECT_FALSE(json["goals"][1].contains("reason"));
  EXPECT_EQ(json["speedup_interval"], Json::array({times.speedup_interval.low, times.speedup_interval.high}));
}

TEST(Launches, OfSmallKernelsFillTwentyMicroseconds) {
  EXPECT_EQ(launches_per_sample(1e6), 1);
  EXPECT_EQ(launches_per_sample(20e3), 1);
  EXPECT_EQ(launches_per_sample(19.9e3), 2);
  EXPECT_EQ(launches_per_sample(2e3), 10);
  EXPECT_EQ(launches_per_sample(0), 40);  // shorter than events resolve
}

}  // namespace
}  // namespace roofwalk
