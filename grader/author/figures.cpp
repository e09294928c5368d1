#include "grader/author/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "common/base/pattern.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

constexpr std::string_view kOpen = "<!--", kClose = "-->";
constexpr std::size_t kFigureReach = 48;  // number of bytes before a comment that are searched for its number and
                                          // unit

// A unit that a figure of a lesson may have. kind_of() tells the kind of unit from the figure's key; units of one kind
// differ only in scale. `{}` stands for the unit of the chapter's useful work, such as FLOP.
struct Unit {
  std::string_view kind, name;
  double scale;
};

constexpr std::string_view kCount = "";
constexpr Unit kUnits[] = {
    {"_ns", "ns", 1},
    {"_ns", "us", 1e3},
    {"_ns", "ms", 1e6},
    {"_flops_per_s", "M{}/s", 1e6},
    {"_flops_per_s", "G{}/s", 1e9},
    {"_flops_per_s", "T{}/s", 1e12},
    {"_bytes", "bytes", 1},
    {"_ai", "{}/byte", 1},
    {kCount, "", 1},
    {kCount, "%", 0.01},
};

std::string_view kind_of(const Figure& figure) {
  if (!figure.over.empty()) return kCount;
  if (figure.key.starts_with("ai_by_level.")) return "_ai";
  if (figure.key.find("parts_ns.") != std::string::npos) return "_ns";
  const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
                                 [&](const Unit& row) { return figure.key.ends_with(row.kind); });
  return unit->kind;  // every key matches, because it ends with the empty text
}

// `useful_unit`: of the attempt's JSON.
Result<double> scale_of(const Figure& figure, const std::string& useful_unit) {
  const std::string_view kind = kind_of(figure);
  std::string names;
  for (const Unit& row : kUnits) {
    if (row.kind != kind) continue;
    const std::string name = fmt::format(fmt::runtime(row.name), useful_unit);
    if (name == figure.unit) return row.scale;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name.empty() ? "no unit" : name);
  }
  return Error{fmt::format("`{}` does not measure {} (one of: {})", figure.unit, figure.key, names)};
}

Result<double> value_of(const std::string& kernel, const std::string& key, const AttemptJsons& attempts) {
  const auto attempt = attempts.find(kernel);
  if (attempt == attempts.end()) return Error{fmt::format("there is no kernel {}", kernel)};
  const Json* node = &attempt->second;
  std::istringstream path(key);
  for (std::string part; std::getline(path, part, '.');) {
    const Json* below = nullptr;
    if (node->is_object() && node->contains(part)) below = &(*node)[part];
    if (node->is_array()) {
      for (std::size_t i = 0; i < node->size(); ++i) below = std::to_string(i) == part ? &(*node)[i] : below;
    }
    if (below == nullptr) return Error{fmt::format("an attempt has no {}", key)};
    node = below;
  }
  if (!node->is_number()) return Error{fmt::format("{} has no number at {}", kernel, key)};
  return node->get<double>();
}

int line_at(const std::string& text, std::size_t place) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

// The figure for the comment that begins at `open`.
Result<Figure> parse_figure(const std::string& lesson, std::size_t open) {
  static const Pattern kMark(R"(\s*([a-z0-9_]+)(?:/([a-z0-9_]+))?\s+([a-z0-9_.]+)\s*)");
  static const Pattern kShown(R"((?:^|[^0-9.,])([0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)(?:\s+([A-Za-z/%]+))?$)");
  const int line = line_at(lesson, open);
  const std::size_t start = open + kOpen.size(), close = lesson.find(kClose, start);
  if (close == std::string::npos) return Error{"this comment has no end", "", line};
  const std::string comment = lesson.substr(start, close - start);
  const std::size_t reach = std::min(open, kFigureReach);
  const std::string before = lesson.substr(open - reach, reach);
  const auto mark = kMark.match(comment), shown = kShown.search(before);
  if (!mark) {
    return Error{"a comment in a lesson reads `<!-- KERNEL KEY -->` or `<!-- KERNEL/KERNEL KEY -->`", "", line};
  }
  if (!shown) {
    return Error{fmt::format("there is no number, with at most a unit after it, before the mark `{}`", comment), "",
                 line};
  }
  return Figure{line, (*shown)[1], (*shown)[2], (*mark)[1], (*mark)[2], (*mark)[3]};
}

}  // namespace

std::string Figure::text() const {
  return fmt::format("{}{}{} ({}{}{} {})", shown, unit.empty() ? "" : " ", unit, kernel, over.empty() ? "" : "/", over,
                     key);
}

std::vector<Result<Figure>> parse_figures(const std::string& lesson) {
  std::vector<Result<Figure>> figures;
  for (std::size_t open = lesson.find(kOpen); open != std::string::npos; open = lesson.find(kOpen, open + 1)) {
    figures.push_back(parse_figure(lesson, open));
  }
  return figures;
}

Result<std::string> true_figure(const Figure& figure, const AttemptJsons& attempts) {
  const auto attempt = attempts.find(figure.kernel);
  const std::string unit(words_of(WorkUnit::flop).one);
  ROOFWALK_TRY(const double scale,
               scale_of(figure, attempt == attempts.end() ? unit : attempt->second.value("useful_unit", unit)));
  ROOFWALK_TRY(double value, value_of(figure.kernel, figure.key, attempts));
  if (!figure.over.empty()) {
    ROOFWALK_TRY(const double divisor, value_of(figure.over, figure.key, attempts));
    value /= divisor;
  }
  if (!std::isfinite(value)) return Error{fmt::format("{} is not a finite number", figure.text())};
  const std::size_t point = figure.shown.find('.');
  const std::size_t digits = point == std::string::npos ? 0 : figure.shown.size() - point - 1;
  std::string text = fmt::format("{:.{}f}", value / scale, digits);
  if (figure.shown.find(',') == std::string::npos) return text;
  const std::size_t whole = std::min(text.find('.'), text.size());
  return grouped(std::trunc(std::stod(text))) + text.substr(whole);
}

std::vector<CheckLine> check_figures(const std::string& chapter, const std::string& lesson,
                                     const AttemptJsons& attempts, CheckScope scope) {
  const auto has_run = [&](const std::string& kernel) { return kernel.empty() || attempts.contains(kernel); };
  const auto figures = parse_figures(lesson);
  const std::size_t hole = lesson.find("[[");
  std::vector<CheckLine> lines;
  lines.push_back({chapter, "lesson.md shows figures, none left to fill in",
                   !figures.empty() && hole == std::string::npos,
                   hole != std::string::npos ? fmt::format("`[[` in line {}", line_at(lesson, hole))
                                             : fmt::format("{} figures", figures.size())});
  for (const Result<Figure>& figure : figures) {
    if (!figure) {
      lines.push_back(
          {chapter, fmt::format("lesson.md:{}: a figure", figure.error().line), false, figure.error().message});
      continue;
    }
    if (scope == CheckScope::quick && !(has_run(figure->kernel) && has_run(figure->over))) continue;
    const auto found = true_figure(*figure, attempts);
    lines.push_back({chapter, fmt::format("lesson.md:{}: {}", figure->line, figure->text()),
                     found && *found == figure->shown, found ? *found : found.error().message});
  }
  return lines;
}

}  // namespace roofwalk
