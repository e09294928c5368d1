// From figures to points: partial credit on a logarithmic scale. Pure arithmetic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "grader/attempt/attempt.h"

namespace roofwalk {

// One goal's scale, and an attempt's place on it.
struct GoalScale {
  std::string axis, level, what;    // as in exercise.toml
  std::optional<double> starter;    // what the starter reaches; nothing if not measured
  std::optional<double> pass, ace;  // thresholds
  std::optional<double> reached;
};

std::vector<GoalScale> scales_of(const Attempt& attempt);

// Credit for one goal, 0 to 1: 0 up to the beginning of the scale, `pass_share` at the pass, 1 from the ace on, and
// log-linear between. The scale begins at the starter; if the starter already meets the pass, so that the goal only
// guards it, the scale begins at half the threshold. A goal without an ace gives full credit from its pass on; one
// without a pass gives at least `pass_share`.
double goal_credit(const GoalScale& scale, double pass_share);

// Credit for an attempt: the least of its goals'. 0 for the starter, `pass_share` or more for a pass, 1 for an ace.
double credit(const std::vector<GoalScale>& scales, double pass_share);

// "up: 81 % of the DRAM roof (starter 3.1 %, pass 70 %, ace 92 %), 94 % of the credit".
std::string words_of(const GoalScale& scale, double pass_share);

Json to_json(const std::vector<GoalScale>& scales);
std::vector<GoalScale> scales_from_json(const Json& json);  // malformed ones are left out

}  // namespace roofwalk
