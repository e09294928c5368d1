#include "grader/class/exports/platforms/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "grader/text/text.h"

namespace roofwalk {
namespace {

// Longer texts are cut, so that a compiler's message does not fill a platform's page.
constexpr std::size_t kMostBytes = 600;

std::string one_line(std::string_view text) { return shortened(printable(text), kMostBytes); }

// A reason may be a compiler's message of several lines.
std::vector<std::string> lines_of(const std::vector<std::string>& reasons) {
  std::vector<std::string> lines;
  for (const std::string& reason : reasons) {
    std::istringstream in(reason);
    for (std::string line; std::getline(in, line);) {
      if (const auto words = trimmed(line, " \t\r"); !words.empty()) lines.push_back(one_line(words));
    }
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return shortened(text, kMostBytes);
}

bool is_measured(const Entry& entry) { return entry.verdict == "pass" || entry.verdict == "fail"; }

// The checks come in the order in which they are made; what comes after the one that failed is unknown.
std::vector<Check> checks_of(const Entry& entry, const std::vector<std::string>& lines) {
  static const std::map<std::string, std::size_t> kFailed = {
      {"compile_error", 0}, {"refused", 1}, {"fault", 1}, {"incorrect", 2}};
  std::vector<Check> checks(3);
  checks[0].name = "compiles";
  checks[1].name = "runs without a fault";
  checks[2].name = "gives right results";
  if (entry.verdict.empty()) return checks;
  const auto failed = kFailed.find(entry.verdict);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (failed == kFailed.end() || i < failed->second) {
      checks[i].state = Check::State::met;
    } else if (i == failed->second) {
      checks[i].state = Check::State::missed;
      checks[i].words = joined(lines);
    }
  }
  return checks;
}

std::string goal_name(const GoalScale& scale) {
  std::string what = scale.what;
  std::replace(what.begin(), what.end(), '_', ' ');
  return scale.axis + ": " + what + (scale.level.empty() ? "" : " at " + level_title(scale.level));
}

std::vector<Check> goals_of(const Entry& entry, const Column& column) {
  std::vector<Check> goals;
  std::map<std::string, int> named;
  for (const GoalScale& scale : entry.scales) {
    Check goal;
    goal.name = one_line(goal_name(scale));
    if (const int count = ++named[goal.name]; count > 1) goal.name += fmt::format(" ({})", count);
    constexpr double kRounding = 1e-9;
    const bool is_met = goal_credit(scale, column.pass_share) >= column.pass_share - kRounding;
    goal.state = !scale.reached ? Check::State::unknown : is_met ? Check::State::met : Check::State::missed;
    goal.words = one_line(words_of(scale, column.pass_share, column.unit, column.has_reference));
    goals.push_back(std::move(goal));
  }
  return goals;
}

// Splits "FILE:LINE: text", where FILE is `name`, maybe in a folder. Line 0 if the text does not begin so.
std::pair<int, std::string> placed(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + ":");
  const bool is_whole = at == 0 || (at != std::string::npos && text[at - 1] == '/');
  if (!is_whole || text.find(' ') < at) return {0, text};
  std::size_t end = at + name.size() + 1;
  int line = 0;
  constexpr int kMostLines = 10'000'000;
  for (; end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0 && line < kMostLines; ++end)
    line = 10 * line + (text[end] - '0');
  if (text.compare(end, 2, ": ") != 0) return {0, text};
  return {line, text.substr(end + 2)};
}

std::vector<Remark> remarks_of(const Entry& entry, const Json& attempt, const std::vector<std::string>& lines,
                               const std::string& name) {
  std::vector<Remark> remarks;
  const auto add = [&](Remark::Kind kind, const std::string& id, const std::string& text, int line) {
    if (!text.empty()) remarks.push_back({kind, id, one_line(text), line});
  };
  const bool is_broken = entry.verdict == "compile_error" || entry.verdict == "refused";
  if (is_broken || entry.verdict == "fault" || entry.verdict == "incorrect") {
    for (const std::string& reason : lines) {
      const auto [line, text] = placed(reason, name);
      if (line == 0 && !remarks.empty()) {  // it goes on with what stands before
        remarks.back().text = one_line(remarks.back().text + "; " + text);
      } else {
        add(is_broken ? Remark::Kind::broken : Remark::Kind::wrong, entry.verdict, text, line);
      }
    }
  }
  const auto line_of = [](const Json& json) { return static_cast<int>(json.number_of("line").value_or(0)); };
  if (const Json* warnings = attempt.member("warnings"); warnings != nullptr) {
    for (const Json& warning : *warnings)
      add(Remark::Kind::warning, "warning", warning.text_of("message"), line_of(warning));
  }
  if (const Json* diagnoses = attempt.member("diagnoses"); diagnoses != nullptr && is_measured(entry)) {
    for (const Json& diagnosis : *diagnoses)
      add(Remark::Kind::hint, one_line(diagnosis.text_of("cause")), diagnosis.text_of("text"), line_of(diagnosis));
  }
  return remarks;
}

std::optional<Movement> moved_of(const Entry& entry, const Json& attempt) {
  const Json* moved = attempt.member("moved");
  if (moved == nullptr || !is_measured(entry)) return std::nullopt;
  const auto right = moved->number_of("right"), up = moved->number_of("up");
  return right && up ? std::optional(Movement{*right, *up}) : std::nullopt;
}

// A label is FOLDER/STUDENT/path of the file.
std::string path_in_hand_in(const std::string& label) {
  std::size_t at = 0;
  for (int level = 0; level < 2; ++level) {
    const std::size_t slash = label.find('/', at);
    if (slash == std::string::npos) break;
    at = slash + 1;
  }
  return one_line(label.substr(at));
}

void describe(SheetPart& part, const Entry& entry, const Column& column, const GradeRecord& record) {
  part.file = path_in_hand_in(entry.label);
  part.verdict = entry.verdict;
  part.headline = verdict_words(entry);
  if (entry.late_days > 0)
    part.headline += fmt::format(", {} day{} late", entry.late_days, entry.late_days == 1 ? "" : "s");
  if (const std::string penalty = penalty_words(entry); !penalty.empty()) part.lines.push_back(penalty);
  const std::vector<std::string> reasons = lines_of(entry.reasons);
  part.lines.insert(part.lines.end(), reasons.begin(), reasons.end());
  if (part.state == Cell::State::not_graded)
    part.lines.emplace_back("This is not a zero: somebody from the course will look at it.");
  part.checks = checks_of(entry, reasons);
  part.goals = goals_of(entry, column);
  part.remarks = remarks_of(entry, record.attempt, reasons, column.chapter + ".cu");
  part.moved = moved_of(entry, record.attempt);
  if (entry.dot) part.useful_per_s = entry.dot->flops_per_s;
  part.plot = record.plot;
}

}  // namespace

std::string Remark::placed_text() const { return line > 0 ? fmt::format("line {}: {}", line, text) : text; }

double Sheet::points() const {
  double sum = 0;
  for (const SheetPart& part : parts) sum += part.points.value_or(0);
  return sum;
}

double Sheet::most_points() const {
  double sum = 0;
  for (const SheetPart& part : parts) sum += part.most_points;
  return sum;
}

Sheet make_sheet(const Gradebook& book, const StudentRow& row, const FindRecord& find, const std::string& chapter) {
  Sheet sheet;
  sheet.student = one_line(row.owner.student);
  sheet.all_boxed = book.all_boxed;
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    const Column& column = book.columns[i];
    const Cell& cell = row.cells[i];
    if (!chapter.empty() && column.chapter != chapter) continue;
    SheetPart part;
    part.chapter = column.chapter;
    part.title = one_line(column.title);
    part.state = cell.state;
    part.most_points = column.points;
    part.points = cell.points();
    part.useful_unit = words_of(column.unit).per_second;
    if (const Entry* entry = cell.counting()) {
      describe(part, *entry, column, find ? find(*entry) : GradeRecord{});
    } else {
      part.headline =
          fmt::format("{}: {}.cu was not among the files.",
                      cell.state == Cell::State::not_due ? "Not handed in yet; it is not due" : "Nothing was handed in",
                      column.chapter);
      part.lines = lines_of(left_out_words(row));
    }
    sheet.parts.push_back(std::move(part));
  }
  return sheet;
}

std::string_view state_name(Check::State state) {
  switch (state) {
    case Check::State::met:
      return "met";
    case Check::State::missed:
      return "missed";
    case Check::State::unknown:
      return "not reached";
  }
  check_failed(__FILE__, __LINE__, "a Check::State has a name");
}

}  // namespace roofwalk
