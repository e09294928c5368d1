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
  std::string axis, level, what;    // see exercise.toml
  std::optional<double> starter;    // the starter's figure; nullopt if not measured
  std::optional<double> pass, ace;  // thresholds
  std::optional<double> reached;
};

std::vector<GoalScale> scales_of(const Attempt& attempt);

// Credit for one goal, 0 to 1: 0 at or below the beginning of the scale, `pass_share` at the pass threshold, 1 from the
// ace threshold on, and logarithmic in between. The scale begins at the starter's figure. If the starter already meets
// the pass threshold, the goal only keeps kernels from getting worse, and the scale begins at half the pass threshold.
// A goal without an ace threshold gives full credit from its pass threshold on; one without a pass threshold gives at
// least `pass_share`.
double goal_credit(const GoalScale& scale, double pass_share);

// Credit for an attempt: the lowest credit of its goals. 0 for the starter, `pass_share` or more for a pass, 1 for an
// ace.
double credit(const std::vector<GoalScale>& scales, double pass_share);

// For example: "up: 81 % of the DRAM roof (starter 3.1 %, pass 70 %, ace 92 %), 94 % of the credit".
std::string words_of(const GoalScale& scale, double pass_share, WorkUnit unit = WorkUnit::flop,
                     bool has_reference = false);

Json to_json(const std::vector<GoalScale>& scales);
std::vector<GoalScale> scales_from_json(const Json& json);  // malformed scales are left out

}  // namespace roofwalk
