// The first lines of solution steps and wrong solutions: what their author promises, and `dev check` proves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "grader/attempt/verdict.h"

namespace roofwalk {

// "// step 1: right x6.6 (l1), up x10: words": factors against the starter. Either part may be left out.
struct StepClaim {
  int step = 0;
  std::optional<double> right, up;
  std::string level = "dram";  // whose AI `right` speaks of
};

// The machine that first lines and the figures of lessons speak of.
inline constexpr std::string_view kCourseMachine = "classroom";

// "// verdict: incorrect, was never written": the verdict, and words that its reason must hold. "// verdict on
// classroom: fail, right" speaks of one machine: a larger cache may mend what is wrong.
struct WrongClaim {
  std::string verdict;
  std::string text;          // may be empty
  std::string machine = {};  // empty for all
};

// Errors say what the line should look like.
Result<StepClaim> parse_step_claim(const std::string& first_line);

// What a solution step claims on a machine. Its first line speaks of the course's machine; comment lines right below
// may speak of others, "// on h100-sxm: right x20 (l1), up x3.9". On a machine that no line speaks of there are no
// factors.
Result<StepClaim> step_claim_on(const std::string& machine, const std::string& source);

Result<WrongClaim> parse_wrong_claim(const std::string& first_line);

}  // namespace roofwalk
