#include "grader/class/terms/credit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/json.h"

namespace roofwalk {
namespace {

// The position of `value` between `low` and `high` on a logarithmic scale, from 0 to 1.
double log_share(double value, double low, double high) {
  if (value >= high) return 1;
  if (value <= low || value <= 0) return 0;
  return std::log(value / low) / std::log(high / low);
}

// The starter's figure for a goal, on the same device, size and seed.
std::optional<double> starter_reaches(const Attempt& attempt, const Goal& goal) {
  if (is_unlike_starter(goal.what)) return 1;
  if (is_count(goal.what)) {
    const auto count = attempt.starter_counts.find(goal_what_name(goal.what));
    return count == attempt.starter_counts.end() ? std::nullopt : std::optional(count->second);
  }
  const auto start = attempt.starter.find(goal.level);
  if (start == attempt.starter.end() || !attempt.measurement) return std::nullopt;
  const auto& [ai, flops_per_s] = start->second;
  switch (goal.what) {
    case Goal::What::ai_over_starter:
    case Goal::What::flops_over_starter:
      return 1;
    case Goal::What::share_of_algorithmic_ai: {
      const auto algorithmic = attempt.measurement->algorithmic_ai.get();
      return algorithmic && *algorithmic > 0 ? std::optional<double>(ai / *algorithmic) : std::nullopt;
    }
    case Goal::What::sector_use:
      return attempt.starter_sector_use;
    case Goal::What::share_of_peak:
      if (attempt.roofs.compute.empty()) return std::nullopt;  // no goal of a chapter with memory roofs alone
      return flops_per_s / attempt.roofs.compute.front().flops_per_s;
    case Goal::What::share_of_roof: {
      const MemoryRoof* memory = attempt.roofs.memory_roof(goal.level);
      const auto peak = attempt.roofs.peak();
      if (memory == nullptr || !peak) return std::nullopt;
      return flops_per_s / attainable_flops_per_s(ai, memory->bytes_per_s, *peak);
    }
    default:
      return std::nullopt;
  }
}

Json number(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

}  // namespace

std::vector<GoalScale> scales_of(const Attempt& attempt) {
  std::vector<GoalScale> scales;
  for (const GoalResult& row : attempt.judgement.goals) {
    const Goal& goal = row.goal;
    scales.push_back({goal_axis_name(goal.axis), goal.level, goal_what_name(goal.what), starter_reaches(attempt, goal),
                      goal.pass, goal.ace, row.reached});
  }
  return scales;
}

namespace {

// Returns the scale of a goal whose thresholds are upper bounds with all its figures inverted, so that more is better.
GoalScale rising(GoalScale scale) {
  const auto what = goal_what_from_name(scale.what);
  if (!what || !is_upper_bound(*what)) return scale;
  for (auto* figure : {&scale.starter, &scale.pass, &scale.ace, &scale.reached}) {
    if (*figure) *figure = 1 / **figure;  // infinite for no atomics at all
  }
  return scale;
}

}  // namespace

double goal_credit(const GoalScale& given, double pass_share) {
  const GoalScale scale = rising(given);
  if (!scale.reached) return 0;
  const double value = *scale.reached;
  const auto begins = [&](double threshold) {
    const bool below = scale.starter && *scale.starter > 0 && *scale.starter < threshold;
    return below ? *scale.starter : threshold / 2;
  };
  if (!scale.pass) return pass_share + (1 - pass_share) * log_share(value, begins(*scale.ace), *scale.ace);
  if (value < *scale.pass) return pass_share * log_share(value, begins(*scale.pass), *scale.pass);
  if (!scale.ace) return 1;
  return pass_share + (1 - pass_share) * log_share(value, *scale.pass, *scale.ace);
}

double credit(const std::vector<GoalScale>& scales, double pass_share) {
  double least = scales.empty() ? 0 : 1;
  for (const GoalScale& scale : scales) least = std::min(least, goal_credit(scale, pass_share));
  return least;
}

std::string words_of(const GoalScale& scale, double pass_share, WorkUnit unit, bool has_reference) {
  Goal goal;
  goal.unit = unit;
  goal.is_over_reference = has_reference;
  goal.level = scale.level;
  goal.what = goal_what_from_name(scale.what).value_or(goal.what);
  std::string marks;
  for (const auto& [name, value] :
       {std::pair(has_reference ? "reference" : "starter", scale.starter), {"pass", scale.pass}, {"ace", scale.ace}}) {
    if (value) marks += fmt::format("{}{} {}", marks.empty() ? "" : ", ", name, goal_value(goal, *value));
  }
  const std::string reached = scale.reached ? goal_value(goal, *scale.reached) : "not measured,";
  return fmt::format("{}: {} {} ({}), {:.0f} % of the credit", scale.axis, reached, goal_phrase(goal), marks,
                     100 * goal_credit(scale, pass_share));
}

Json to_json(const std::vector<GoalScale>& scales) {
  Json json = Json::array();
  for (const GoalScale& scale : scales) {
    json.push_back({{"axis", scale.axis},
                    {"level", scale.level},
                    {"what", scale.what},
                    {"starter", number(scale.starter)},
                    {"pass", number(scale.pass)},
                    {"ace", number(scale.ace)},
                    {"reached", number(scale.reached)}});
  }
  return json;
}

std::vector<GoalScale> scales_from_json(const Json& json) {
  std::vector<GoalScale> scales;
  if (!json.is_array()) return scales;
  for (const Json& row : json) {
    if (!row.is_object()) continue;
    GoalScale scale{row.text_of("axis"),   row.text_of("level"), row.text_of("what"),     row.number_of("starter"),
                    row.number_of("pass"), row.number_of("ace"), row.number_of("reached")};
    if (scale.pass || scale.ace) scales.push_back(std::move(scale));
  }
  return scales;
}

}  // namespace roofwalk
