#include "grader/check/claims.h"

#include <regex>

namespace roofwalk {

Result<StepClaim> parse_step_claim(const std::string& first_line) {
  static const std::regex kLine(
      R"(// step (\d+): (?:right x([0-9.]+)(?: \((dram|l2|l1)\))?)?(?:, )?(?:up x([0-9.]+))?: (.+))");
  std::smatch match;
  if (!std::regex_match(first_line, match, kLine) || (!match[2].matched && !match[4].matched)) {
    return Error{.message = "the first line must read `// step N: right xR (LEVEL), up xU: words`"};
  }
  StepClaim claim;
  claim.step = std::stoi(match[1]);
  if (match[2].matched) claim.right = std::stod(match[2]);
  if (match[3].matched) claim.level = match[3];
  if (match[4].matched) claim.up = std::stod(match[4]);
  return claim;
}

Result<WrongClaim> parse_wrong_claim(const std::string& first_line) {
  static const std::regex kLine(R"(// verdict(?: on ([a-z0-9-]+))?: ([a-z_]+)(?:, (.+))?)");
  std::smatch match;
  if (!std::regex_match(first_line, match, kLine)) {
    return Error{.message =
                     "the first line must read `// verdict: VERDICT, words of its reason` or `// verdict on "
                     "MACHINE: ...`"};
  }
  return WrongClaim{.verdict = match[2], .text = match[3], .machine = match[1]};
}

}  // namespace roofwalk
