#include "grader/attempt/gpu_times.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/device/cuda/own_processes.h"
#include "common/record/run_record.h"
#include "grader/attempt/goals.h"
#include "grader/rig/gpu_rig.h"

namespace roofwalk {
namespace {

// One kernel with its problem, set up on a device.
class Runner {
 public:
  static Result<Runner> make(const char* whose, const DeviceFactory& open, const Artifact& artifact,
                             const Problem& problem) {
    ROOFWALK_TRY(auto device, open());
    ROOFWALK_TRY(Workspace workspace, Workspace::make(*device, problem, kGuardBytes));
    return Runner(whose, artifact, std::move(device), std::make_unique<Workspace>(std::move(workspace)));
  }

  // The mean time of `runs` runs.
  Result<double> time(const ExpectedValues& expected, int runs) {
    double total_ns = 0;
    for (int i = 0; i < runs; ++i) {
      ROOFWALK_TRY(const double elapsed_ns, time(expected()));
      total_ns += elapsed_ns;
    }
    return total_ns / runs;
  }

 private:
  Result<double> time(const std::vector<Expected>& expected) {
    const auto ended = [&](const std::string& how) {
      return Error{.message = fmt::format("{} was correct before, and went wrong while it was timed: {}", whose_, how),
                   .advice = "a kernel that depends on luck (a race, memory that nobody wrote) does that"};
    };
    RunOptions options;
    options.figures = RunOptions::Figures::time;
    ROOFWALK_TRY(const RunRecord record, workspace_->run(artifact_, options));
    if (record.fault) return ended(record.fault->message);
    const Correctness correctness = workspace_->check(expected);
    ROOFWALK_TRY_STATUS(device_->alive());
    if (!correctness.correct) return ended(correctness.reason);
    return record.elapsed_ns;
  }
  Runner(const char* whose, const Artifact& artifact, std::unique_ptr<Device> device,
         std::unique_ptr<Workspace> workspace)
      : whose_(whose), artifact_(artifact), device_(std::move(device)), workspace_(std::move(workspace)) {}

  const char* whose_;
  const Artifact& artifact_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Workspace> workspace_;  // uses device_, so it is destroyed first
};

}  // namespace

std::vector<TimedGoal> timed_goals(const std::vector<Goal>& goals, const Measurement& measurement) {
  std::vector<TimedGoal> out;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    const Goal& goal = goals[i];
    if (is_count(goal.what)) continue;
    const auto roof = roof_of(goal, goals, measurement);
    for (const Grade grade : {Grade::pass, Grade::ace}) {
      const auto wanted = grade == Grade::ace ? goal.ace : goal.pass;
      if (!wanted) continue;
      TimeGoal time{.name = fmt::format("{} {}", goal_axis_name(goal.axis), grade_name(grade))};
      if (goal.what == Goal::What::flops_over_starter) {
        time.least_speedup = *wanted;
      } else if (goal.what == Goal::What::share_of_roof && roof && *roof > 0) {
        time.most_ns = measurement.useful_flops.value / (*wanted * *roof) * 1e9;
      } else if (goal.what == Goal::What::share_of_peak && measurement.peak_flops_per_s.get().value_or(0) > 0) {
        time.most_ns = measurement.useful_flops.value / (*wanted * measurement.peak_flops_per_s.value) * 1e9;
      } else {
        continue;
      }
      out.push_back({i, grade, std::move(time)});
    }
  }
  return out;
}

Result<std::optional<RunRecord>> modelled_run(const Rig& rig, const Artifact& artifact, const Problem& problem) {
  RunOptions options = starter_trial(rig.virtual_threads);
  options.time = RunOptions::Time::least;
  ROOFWALK_TRY(Trial modelled, run_trial(rig.virtual_devices(), artifact, problem, "modelled", options, nullptr));
  if (modelled.was_stopped()) return std::optional<RunRecord>();
  modelled.record.bytes_are_modelled = true;
  return std::optional(std::move(modelled.record));
}

void take_bytes(const RunRecord& modelled, RunRecord& record) {
  record.counters = modelled.counters;
  for (std::size_t i = 0; i < std::min(record.kernels.size(), modelled.kernels.size()); ++i) {
    record.kernels[i].counters = modelled.kernels[i].counters;
    record.kernels[i].lines = modelled.kernels[i].lines;
  }
  record.bytes_are_modelled = true;
}

Status model_bytes(const Rig& rig, const Artifact& artifact, const Problem& problem, RunRecord& record) {
  if (!rig.is_real() || record.counters[Counter::dram_read_bytes]) return kOk;
  ROOFWALK_TRY(const auto modelled, modelled_run(rig, artifact, problem));
  if (modelled) take_bytes(*modelled, record);
  return kOk;
}

Result<GpuTimes> time_in_pairs(const Rig& rig, const Artifact& starter, const Artifact& attempt, const Problem& problem,
                               const ExpectedValues& expected, const std::vector<TimedGoal>& goals) {
  constexpr int kTries = 2;
  constexpr std::size_t kWorkers = 2;  // one of them runs the starter
  ROOFWALK_TRY(Runner one, Runner::make("the starter", rig.own_devices(), starter, problem));
  ROOFWALK_TRY(Runner other, Runner::make("your kernel", rig.open, attempt, problem));
  PairOptions options;
  for (const TimedGoal& goal : goals) options.goals.push_back(goal.time);
  GpuTimes times;
  // The first runs load the kernels, allocate their memory and wake the GPU, so they are not counted.
  ROOFWALK_TRY(const double starter_ns, one.time(expected, 1));
  ROOFWALK_TRY(const double attempt_ns, other.time(expected, 1));
  times.runs_per_sample = launches_per_sample(std::min(starter_ns, attempt_ns));
  for (int i = 0; i < kTries; ++i) {
    times.before = state_of(rig);
    ROOFWALK_TRY(times.pairs, measure_pairs(
                                  [&](bool starter_first) -> Result<TimePair> {
                                    TimePair pair{.starter_first = starter_first};
                                    for (const bool starters : {starter_first, !starter_first}) {
                                      ROOFWALK_TRY((starters ? pair.starter_ns : pair.attempt_ns),
                                                   (starters ? one : other).time(expected, times.runs_per_sample));
                                    }
                                    return pair;
                                  },
                                  options));
    times.after = state_of(rig);
    times.notes = times.pairs.notes;
    times.disturbed.reset();
    if (!times.before || !times.after) {
      times.notes.emplace_back("what else the GPU did meanwhile is unknown: `./roofwalk doctor` says why");
      return times;
    }
    for (const Doubt& doubt : compare(*times.before, *times.after, own_processes(kWorkers))) {
      if (doubt.spoils)
        times.disturbed = doubt.text;
      else
        times.notes.push_back(doubt.text);
    }
    if (!times.disturbed) return times;
  }
  return times;
}

}  // namespace roofwalk
