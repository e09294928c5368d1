// The form of results.json: `score`, or a score per test; `tests` with score, max_score, status, name, number, output,
// visibility, tags; `leaderboard` with name, value, order; `visibility`, `stdout_visibility`. Output is plain text
// unless output_format is set. A chapter's test has its points; the tests of its goals have none, since a chapter's
// credit is that of its lowest goal.
#include <fmt/format.h>

#include <cmath>

#include "grader/class/exports/platforms/platforms.h"

namespace roofwalk {
namespace {

double hundredths(double value) { return std::round(value * 100) / 100; }

void add_output(Json& test, const std::string& output) {
  test["output"] = output;
  test["output_format"] = "text";
  test["visibility"] = "visible";
}

Json test_of_goal(const SheetPart& part, const Check& goal, const std::string& number) {
  Json test{{"name", fmt::format("{}, {}", part.chapter, goal.name)}, {"number", number}};
  if (goal.state != Check::State::unknown) test["status"] = goal.state == Check::State::met ? "passed" : "failed";
  add_output(test, goal.words);
  return test;
}

Json test_of_chapter(const SheetPart& part, const std::string& number) {
  Json test{{"name", fmt::format("{}: {}", part.chapter, part.title)}, {"number", number}};
  // Without a status, Gradescope would derive "failed" from a score of 0.
  if (part.state != Cell::State::not_due) {
    test["score"] = part.points.value_or(0);
    test["max_score"] = part.most_points;
    test["status"] = part.verdict == "pass" ? "passed" : "failed";
  }
  std::string output = part.headline;
  for (const std::string& line : part.lines) output += "\n" + line;
  for (const Remark& remark : part.remarks) {
    if (remark.kind == Remark::Kind::hint) output += "\n" + remark.placed_text();
  }
  add_output(test, output);
  return test;
}

}  // namespace

Json to_gradescope(const Sheet& sheet) {
  Json tests = Json::array(), leaderboard = Json::array();
  for (std::size_t i = 0; i < sheet.parts.size(); ++i) {
    const SheetPart& part = sheet.parts[i];
    const std::string number = std::to_string(i + 1);
    tests.push_back(test_of_chapter(part, number));
    for (std::size_t k = 0; k < part.goals.size(); ++k)
      tests.push_back(test_of_goal(part, part.goals[k], fmt::format("{}.{}", number, k + 1)));
    const auto add = [&](const std::string& what, double value) {
      leaderboard.push_back({{"name", part.chapter + " " + what}, {"value", hundredths(value)}, {"order", "desc"}});
    };
    if (part.moved) add("up", part.moved->up);
    if (part.moved) add("right", part.moved->right);
    if (part.useful_per_s) add("G" + part.useful_unit, *part.useful_per_s / 1e9);
  }
  Json json{{"score", hundredths(sheet.points())},
            {"visibility", "visible"},
            {"stdout_visibility", "hidden"},
            {"output", sheet.all_boxed ? "" : "Graded without a sandbox."},
            {"output_format", "text"}};
  json["tests"] = std::move(tests);
  json["leaderboard"] = std::move(leaderboard);
  return json;
}

}  // namespace roofwalk
