// The form of results.json: `score`, or a score per test; `tests` with score, max_score, status, name, number, output,
// visibility, tags; `leaderboard` with name, value, order; `visibility`, `stdout_visibility`. Output is plain text
// unless output_format is set.
#include <fmt/format.h>

#include <cmath>

#include "common/base/json.h"
#include "grader/class/exports/exports.h"

namespace roofwalk {
namespace {

std::string output_of(const Cell& cell, const Column& column, const StudentRow& row) {
  const Entry* entry = cell.counting();
  if (entry == nullptr) {
    std::string text =
        fmt::format("{}: {}.cu was not among the files.",
                    cell.state == Cell::State::not_due ? "Not handed in yet; it is not due" : "Nothing was handed in",
                    column.chapter);
    for (const std::string& line : left_out_words(row)) text += "\n" + line;
    return text;
  }
  std::string text = verdict_words(*entry);
  if (entry->late_days > 0) text += fmt::format(", {} day{} late", entry->late_days, entry->late_days == 1 ? "" : "s");
  if (const std::string penalty = penalty_words(*entry); !penalty.empty()) text += "\n" + penalty;
  for (const std::string& reason : entry->reasons) text += "\n" + reason;
  if (cell.state == Cell::State::not_graded) text += "\nThis is not a zero: somebody from the course will look at it.";
  return text;
}

}  // namespace

Json to_gradescope(const Gradebook& book, const StudentRow& row) {
  double score = 0;
  Json tests = Json::array(), leaderboard = Json::array();
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    const Column& column = book.columns[i];
    const Cell& cell = row.cells[i];
    const double points = cell.points().value_or(0);
    const Entry* entry = cell.counting();
    score += points;
    Json test{{"name", fmt::format("{}: {}", column.chapter, column.title)}, {"number", std::to_string(i + 1)}};
    // Without a status, Gradescope would derive "failed" from a score of 0.
    if (cell.state != Cell::State::not_due) {
      test["score"] = points;
      test["max_score"] = column.points;
      test["status"] = entry != nullptr && entry->verdict == "pass" ? "passed" : "failed";
    }
    test["output"] = output_of(cell, column, row);
    test["output_format"] = "text";
    test["visibility"] = "visible";
    tests.push_back(std::move(test));
    if (entry != nullptr && entry->dot) {
      leaderboard.push_back({{"name", fmt::format("{} G{}", column.chapter, words_of(column.unit).per_second)},
                             {"value", std::round(entry->dot->flops_per_s / 1e7) / 100},
                             {"order", "desc"}});
    }
  }
  Json json{{"score", std::round(score * 100) / 100},
            {"visibility", "visible"},
            {"stdout_visibility", "hidden"},
            {"output", book.all_boxed ? "" : "Graded without a sandbox."},
            {"output_format", "text"}};
  json["tests"] = std::move(tests);
  json["leaderboard"] = std::move(leaderboard);
  return json;
}

}  // namespace roofwalk
