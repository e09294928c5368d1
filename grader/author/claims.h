// Claims in the first lines of solution steps and wrong solutions, which `dev check` proves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "grader/attempt/verdict.h"

namespace roofwalk {

// "// step 1: right x6.6 (l1), up x10: words": factors over the starter. Either part may be left out.
struct StepClaim {
  int step = 0;
  std::optional<double> right, up;
  std::string level = "dram";  // the level whose AI `right` is about
};

// The machine that first lines and the figures of lessons are about.
inline constexpr std::string_view kCourseMachine = "classroom";

// "// verdict: incorrect, was never written": the verdict, and words that its reason must contain. "// verdict on
// classroom: fail, right" is about one machine: a larger cache elsewhere may hide what is wrong.
struct WrongClaim {
  std::string verdict;
  std::string text;          // may be empty
  std::string machine = {};  // empty: all machines
};

// Errors say what the line should look like.
Result<StepClaim> parse_step_claim(const std::string& first_line);

// What a solution step claims on a machine. Its first line is about the course's machine; comment lines right below may
// be about others: "// on h100-sxm: right x20 (l1), up x3.9". On a machine without a line there are no factors.
Result<StepClaim> step_claim_on(const std::string& machine, const std::string& source);

Result<WrongClaim> parse_wrong_claim(const std::string& first_line);

}  // namespace roofwalk
