// Claims in the first lines of solution steps, idioms and wrong solutions; `dev check` proves them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "grader/attempt/verdict.h"

namespace roofwalk {

// "// step 1: right x6.6 (l1), up x10: words": factors relative to the starter. Either factor may be missing.
struct StepClaim {
  int step = 0;
  std::optional<double> right, up;
  std::string level = "dram";  // the level whose AI `right` is about
};

// The machine that the claim in a step's first line and the figures of lessons are about.
inline constexpr std::string_view kCourseMachine = "classroom";

// "// verdict: incorrect, was never written": the verdict, and words that its reason must contain. "// verdict on
// classroom: fail, right" is about one machine only, because a larger cache on another may hide the mistake.
struct WrongClaim {
  std::string verdict;
  std::string text;          // may be empty
  std::string machine = {};  // empty: all machines
};

// Parses a first line. Errors say what form it must have.
Result<StepClaim> parse_step_claim(const std::string& first_line);

// "// library CUB (DeviceReduce::Sum): right x1 (dram), up x90": what a chapter's library.cu says, with the same lines
// about other machines below as a step. Its step is 0.
Result<StepClaim> library_claim_on(const std::string& machine, const std::string& source);

// The claim of a solution step for a machine. The first line of the file is about the course's machine. Comment lines
// directly below may be about others: "// on h100-sxm/8: right x20 (l1), up x3.9". If no line is about this
// machine, the claim has no factors.
Result<StepClaim> step_claim_on(const std::string& machine, const std::string& source);

// The grade that an idiom must get on a machine. The first line is about all machines: "// grade: pass". Lines directly
// below may be about one: "// on h100-sxm: ace".
Result<Grade> idiom_grade_on(const std::string& machine, const std::string& source);

Result<WrongClaim> parse_wrong_claim(const std::string& first_line);

}  // namespace roofwalk
