#include "grader/check/claims.h"

#include <regex>
#include <sstream>

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

Result<StepClaim> step_claim_on(const std::string& machine, const std::string& source) {
  static const std::regex kLine(
      R"(// on ([a-z0-9-]+): (?:right x([0-9.]+)(?: \((dram|l2|l1)\))?)?(?:, )?(?:up x([0-9.]+))?)");
  std::istringstream lines(source);
  std::string line;
  std::getline(lines, line);
  ROOFWALK_TRY(StepClaim claim, parse_step_claim(line));
  if (machine == kCourseMachine) return claim;
  claim.right.reset();
  claim.up.reset();
  std::smatch match;
  while (std::getline(lines, line) && line.starts_with("// on ")) {
    if (!std::regex_match(line, match, kLine) || (!match[2].matched && !match[4].matched)) {
      return Error{.message = "a line about another machine must read `// on MACHINE: right xR (LEVEL), up xU`"};
    }
    if (match[1] != machine) continue;
    if (match[2].matched) claim.right = std::stod(match[2]);
    if (match[3].matched) claim.level = match[3];
    if (match[4].matched) claim.up = std::stod(match[4]);
  }
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
