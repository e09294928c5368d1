#include "grader/author/claims.h"

#include <sstream>

#include "common/base/pattern.h"
#include "grader/author/quick_files.h"

namespace roofwalk {
namespace {

// Adds the factors and the level that a step's first line claims. An empty text leaves a member unchanged.
void take_moves(const std::string& right, const std::string& level, const std::string& up, StepClaim& claim) {
  if (!right.empty()) claim.right = std::stod(right);
  if (!level.empty()) claim.level = level;
  if (!up.empty()) claim.up = std::stod(up);
}

// The claim of a file whose first line is about the course's machine, for any machine: lines below are about others.
Result<StepClaim> claim_on(const std::string& machine, const std::string& source, StepClaim claim) {
  static const Pattern kLine(
      R"(// on ([a-z0-9-]+(?:/[0-9]+)?): (?:right x([0-9.]+)(?: \((dram|l2|l1)\))?)?(?:, )?(?:up x([0-9.]+))?)");
  if (machine == kCourseMachine) return claim;
  claim.right.reset();
  claim.up.reset();
  std::istringstream lines(source);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && (line.starts_with("// on ") || line == kQuickLine)) {
    if (line == kQuickLine) continue;
    const auto groups = kLine.match(line);
    if (!groups || ((*groups)[2].empty() && (*groups)[4].empty())) {
      return Error{.message = "a line about another machine must read `// on MACHINE: right xR (LEVEL), up xU`"};
    }
    if ((*groups)[1] == machine) take_moves((*groups)[2], (*groups)[3], (*groups)[4], claim);
  }
  return claim;
}

}  // namespace

Result<StepClaim> parse_step_claim(const std::string& first_line) {
  static const Pattern kLine(
      R"(// step (\d+): (?:right x([0-9.]+)(?: \((dram|l2|l1)\))?)?(?:, )?(?:up x([0-9.]+))?: (.+))");
  const auto groups = kLine.match(first_line);
  if (!groups || ((*groups)[2].empty() && (*groups)[4].empty())) {
    return Error{.message = "the first line must read `// step N: right xR (LEVEL), up xU: words`"};
  }
  StepClaim claim;
  claim.step = std::stoi((*groups)[1]);
  take_moves((*groups)[2], (*groups)[3], (*groups)[4], claim);
  return claim;
}

Result<StepClaim> step_claim_on(const std::string& machine, const std::string& source) {
  ROOFWALK_TRY(StepClaim claim, parse_step_claim(source.substr(0, source.find('\n'))));
  return claim_on(machine, source, std::move(claim));
}

Result<StepClaim> library_claim_on(const std::string& machine, const std::string& source) {
  static const Pattern kLine(
      R"(// library .+\): (?:right x([0-9.]+)(?: \((dram|l2|l1)\))?)?(?:, )?(?:up x([0-9.]+))?)");
  const auto groups = kLine.match(source.substr(0, source.find('\n')));
  if (!groups || ((*groups)[1].empty() && (*groups)[3].empty())) {
    return Error{.message = "the first line must read `// library NAME (CALL): right xR (LEVEL), up xU`"};
  }
  StepClaim claim;
  take_moves((*groups)[1], (*groups)[2], (*groups)[3], claim);
  return claim_on(machine, source, std::move(claim));
}

Result<Grade> idiom_grade_on(const std::string& machine, const std::string& source) {
  static const Pattern kFirst(R"(// grade: (none|pass|ace))"), kOn(R"(// on ([a-z0-9-]+): (none|pass|ace))");
  std::istringstream lines(source);
  std::string line;
  std::getline(lines, line);
  const auto first = kFirst.match(line);
  if (!first) return Error{.message = "the first line must read `// grade: none`, `// grade: pass` or `// grade: ace`"};
  Grade grade = grade_from_name((*first)[1]);
  while (std::getline(lines, line) && line.starts_with("// on ")) {
    const auto on = kOn.match(line);
    if (!on) return Error{.message = "a line about one machine must read `// on MACHINE: GRADE`"};
    if ((*on)[1] == machine) grade = grade_from_name((*on)[2]);
  }
  return grade;
}

Result<WrongClaim> parse_wrong_claim(const std::string& first_line) {
  static const Pattern kLine(R"(// verdict(?: on ([a-z0-9-]+))?: ([a-z_]+)(?:, (.+))?)");
  const auto groups = kLine.match(first_line);
  if (!groups) {
    return Error{.message =
                     "the first line must read `// verdict: VERDICT, words of its reason` or `// verdict on "
                     "MACHINE: ...`"};
  }
  return WrongClaim{.verdict = (*groups)[2], .text = (*groups)[3], .machine = (*groups)[1]};
}

}  // namespace roofwalk
