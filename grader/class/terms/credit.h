// From figures to points: partial credit on a logarithmic scale. Pure arithmetic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "grader/attempt/attempt.h"

namespace roofwalk {

// One goal's scale, and where an attempt stands on it.
struct GoalScale {
  std::string axis, level, what;    // as in exercise.toml
  std::optional<double> starter;    // what the starter reaches; nothing where nobody measured it
  std::optional<double> pass, ace;  // thresholds
  std::optional<double> reached;
};

std::vector<GoalScale> scales_of(const Attempt& attempt);

// Of one goal, from 0 to 1: 0 up to where the scale begins, `pass_share` where the pass is met, 1 from the ace on, and
// log-linear between. The scale begins at the starter; where the starter meets the pass already, so that the goal only
// guards what was there, it begins at half the threshold. A goal without an ace is worth all from its pass on; one
// without a pass never takes an attempt below `pass_share`.
double goal_credit(const GoalScale& scale, double pass_share);

// Of an attempt: the least of its goals'. 0 for the starter, `pass_share` or more for a pass, 1 for an ace.
double credit(const std::vector<GoalScale>& scales, double pass_share);

// "up: 81 % of the DRAM roof (starter 3.1 %, pass 70 %, ace 92 %), 94 % of the credit".
std::string words_of(const GoalScale& scale, double pass_share);

Json to_json(const std::vector<GoalScale>& scales);
std::vector<GoalScale> scales_from_json(const Json& json);  // what is malformed is left out

}  // namespace roofwalk
