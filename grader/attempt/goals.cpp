#include "grader/attempt/goals.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/roofline/si.h"
#include "grader/attempt/verdict.h"

namespace roofwalk {
namespace {

constexpr double kLeastOfL2 = 4;

bool is_about_dram_bytes(const Goal& goal) {
  return goal.level == "dram" &&
         (goal.what == Goal::What::ai_over_starter || goal.what == Goal::What::ai_unlike_starter ||
          goal.what == Goal::What::share_of_algorithmic_ai);
}

// Why CUPTI cannot tell whether the goal is met; empty if it can.
std::string uncounted_by_cupti(const Goal& goal) {
  switch (goal.what) {
    case Goal::What::sector_use:
      return fmt::format(
          "right by the {} sectors needed is not asked for here: CUPTI counts the sectors that a kernel "
          "moves, and not those that it needs.",
          level_title(goal.level));
    case Goal::What::shared_wavefronts_over_least:
      return "up by the wavefronts of shared memory is not asked for here: CUPTI counts those that a kernel takes, and "
             "not those that it needs.";
    case Goal::What::shared_bytes_unlike_starter:
      return "stay at the starter's bytes of shared memory is not asked for here: CUPTI counts wavefronts of shared "
             "memory, and not bytes.";
    case Goal::What::atomics_per_element:
      return "up by atomics is not asked for here: CUPTI counts the instructions of warps, and not the lanes that take "
             "part.";
    case Goal::What::executed_over_useful:
      if (goal.unit == WorkUnit::flop) return "";
      return "up by the operations executed is not asked for here: CUPTI counts integer instructions of other kinds, "
             "too.";
    default:
      return "";
  }
}

}  // namespace

std::string goal_direction(const Goal& goal) {
  if (is_unlike_starter(goal.what)) return "stay";
  return is_count(goal.what) ? "count" : goal_axis_name(goal.axis);
}

void use_thresholds_of(const Machine& machine, Chapter& chapter) {
  for (Goal& goal : chapter.goals) {
    if (const auto own = goal.on.find(machine.chip_name()); own != goal.on.end()) {
      if (own->second.pass) goal.pass = own->second.pass;
      if (own->second.ace) goal.ace = own->second.ace;
    }
    goal.on.clear();
  }
}

MachineGoals goals_on(const Machine& machine, const Chapter& chapter, const Work& work, bool counts_accesses) {
  Chapter here = chapter;
  use_thresholds_of(machine, here);
  const auto bytes = static_cast<double>(work.compulsory_bytes), l2_bytes = static_cast<double>(machine.l2_bytes);
  const bool l2_hides_dram = bytes < kLeastOfL2 * l2_bytes;
  MachineGoals goals;
  for (Goal& goal : here.goals) {
    std::string uncounted = counts_accesses ? std::string() : uncounted_by_cupti(goal);
    if (!uncounted.empty()) {
      goals.left_out.push_back(std::move(uncounted));
    } else if (l2_hides_dram && is_about_dram_bytes(goal)) {
      goals.left_out.push_back(fmt::format(
          "{} at DRAM is not asked for on {}: {} of data are less than {:.0f} times its L2 of {}, so DRAM "
          "hardly sees what a kernel reads twice.",
          goal_axis_name(goal.axis), machine.name, si_text(bytes, "B"), kLeastOfL2, si_text(l2_bytes, "B")));
    } else {
      goals.asked.push_back(std::move(goal));
    }
  }
  return goals;
}

std::optional<double> roof_of(const Goal& goal, const std::vector<Goal>& goals, const Measurement& measurement) {
  constexpr double kLeastOfAlgorithmic = 0.8;
  const LevelMeasurement& level = measurement.level(goal.level);
  const auto roof = level.roof.get(), ai = level.ai.get(), algorithmic = measurement.algorithmic_ai.get();
  const auto bounds_bytes = [](Goal other) {
    if (other.level == "l2") other.level = "dram";  // what goes to DRAM goes through L2
    return is_about_dram_bytes(other) && other.pass;
  };
  if (!roof || !ai || *ai <= 0 || !algorithmic || goal.level != "dram") return roof;
  if (std::any_of(goals.begin(), goals.end(), bounds_bytes)) return roof;
  const double higher = *roof * std::max(1.0, kLeastOfAlgorithmic * *algorithmic / *ai);
  return std::min(higher, std::max(*roof, measurement.peak_flops_per_s.get().value_or(higher)));
}

}  // namespace roofwalk
