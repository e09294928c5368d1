// What Autolab reads of an autograder's output: the last line, JSON with `scores` by problem and, if wanted,
// `scoreboard`, a number for each column; the line before it, if it is JSON with `_presentation` "semantic", as stages
// of tests {passed, hint}; all else as text.
//
// Autolab quotes each word of the last line that a colon follows before it parses the line, so that no text may stand
// there in which a colon follows a letter or digit. A problem without points is left out, which keeps the score that it
// has: a fault of the grader is no zero. No line of what comes before can be taken for one of the two: texts of
// students are one line each, and indented.
#include <fmt/format.h>

#include <cmath>

#include "grader/class/exports/platforms/platforms.h"

namespace roofwalk {
namespace {

double two_places(double value) { return std::round(value * 100) / 100; }

Json stage_of(const SheetPart& part) {
  Json stage = Json::object();
  for (const auto* checks : {&part.checks, &part.goals}) {
    for (const Check& check : *checks) {
      Json test;
      test["passed"] = check.state == Check::State::met;
      if (check.state == Check::State::unknown) {
        test["hint"] = "not reached";
      } else if (!check.words.empty()) {
        test["hint"] = check.words;
      }
      stage[check.name] = std::move(test);
    }
  }
  if (stage.empty()) stage["is handed in"] = {{"passed", false}, {"hint", part.headline}};
  return stage;
}

}  // namespace

std::string to_autolab(const Sheet& sheet) {
  std::string text = sheet.all_boxed ? "" : "Graded without a sandbox.\n";
  Json scores = Json::object(), board = Json::array();
  Json feedback;
  feedback["_presentation"] = "semantic";
  feedback["stages"] = Json::array();
  for (const SheetPart& part : sheet.parts) {
    text += fmt::format("{}: {}\n", part.chapter, part.headline);
    for (const std::string& line : part.lines) text += "  " + line + "\n";
    for (const Check& goal : part.goals) text += fmt::format("  {}: {}\n", state_name(goal.state), goal.words);
    for (const Remark& remark : part.remarks) {
      if (remark.kind == Remark::Kind::hint || remark.kind == Remark::Kind::warning)
        text += "  " + remark.placed_text() + "\n";
    }
    feedback["stages"].push_back(part.chapter);
    if (part.points) scores[part.chapter] = *part.points;
    board.push_back(part.points.value_or(0));
    board.push_back(part.moved ? two_places(part.moved->up) : 0);
    board.push_back(part.moved ? two_places(part.moved->right) : 0);
  }
  for (const SheetPart& part : sheet.parts) feedback[part.chapter] = stage_of(part);
  Json result;
  result["scores"] = std::move(scores);
  result["scoreboard"] = std::move(board);
  return text + json_line_ascii(feedback) + "\n" + json_line_ascii(result) + "\n";
}

}  // namespace roofwalk
