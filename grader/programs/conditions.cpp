#include "grader/programs/conditions.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/json.h"
#include "common/record/run_record.h"
#include "grader/programs/figures.h"
#include "grader/programs/program_report.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMostConditionBytes = 1000;

// The figures that every kernel can have.
std::vector<std::string> figure_names() {
  ProgramRun run;
  run.kernels.emplace_back();
  cudart::KernelTotals& totals = run.kernels.front().totals;
  totals.elapsed_ns = 1;
  for (std::size_t i = 0; i < kCounterCount; ++i) totals.counters.set(static_cast<Counter>(i), 1);
  run.kernels.front().finding.emplace();
  std::vector<std::string> names{"time_ns"};
  const Json json = to_json(run);
  for (const Figure& figure : figures_in(json.at("kernels").front())) {
    if (!figure.value) continue;
    names.push_back(figure.name);
    constexpr std::string_view kCounters = "counters.";
    if (figure.name.starts_with(kCounters)) names.push_back(figure.name.substr(kCounters.size()));
  }
  return names;
}

Error misread(const std::string& typed, const std::string& why) {
  return {.message = fmt::format("--fail-if '{}': {}", printable(typed), why),
          .advice = "such as 'dram_bytes > +2%' or 'gemm: time_ns > 1e6'"};
}

std::optional<double> number_from(std::string_view digits) {
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size() && std::isfinite(number);
  return is_whole ? std::optional(number) : std::nullopt;
}

Status read_value(std::string_view text, Condition& condition) {
  const bool has_sign = text.starts_with('+') || text.starts_with('-'), is_percent = text.ends_with('%');
  if (is_percent) text = trimmed(text.substr(0, text.size() - 1));
  const auto number = number_from(text.substr(has_sign ? 1 : 0));
  if (!number || std::signbit(*number))
    return misread(condition.typed, fmt::format("`{}` is no number", printable(text)));
  if (is_percent && !has_sign) {
    return misread(condition.typed,
                   fmt::format("write +{0}% for {0} % more than before, -{0}% for less", printable(text)));
  }
  condition.value = text.starts_with('-') ? -*number : *number;
  condition.than = !has_sign    ? Condition::Than::value
                   : is_percent ? Condition::Than::earlier_and_percent
                                : Condition::Than::earlier_and_value;
  return kOk;
}

Status read_figure(const std::string& name, Condition& condition) {
  const std::vector<std::string> names = figure_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const auto near = near_names(name, names);
    return misread(condition.typed, fmt::format("there is no figure `{}`{}", printable(name),
                                                near.empty() ? "; the JSON has the names"
                                                             : fmt::format(", but {}", fmt::join(near, ", "))));
  }
  condition.figure = name;
  return kOk;
}

double threshold_of(const Condition& condition, double earlier) {
  switch (condition.than) {
    case Condition::Than::value:
      break;
    case Condition::Than::earlier_and_value:
      return earlier + condition.value;
    case Condition::Than::earlier_and_percent:
      return earlier * (1 + condition.value / 100);
  }
  return condition.value;
}

std::string figure_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? grouped(value) : fmt::format("{:.4g}", value);
}

Judged judge_kernel(const Condition& condition, const Json& kernel, const Json* earlier) {
  Judged judged{kernel.text_of("name"), condition.typed, Judged::Outcome::not_judged, ""};
  const auto now = figure_of(kernel, condition.figure);
  if (!now) {
    judged.what = fmt::format("has no {}", condition.figure);
    return judged;
  }
  const Json* const before = earlier == nullptr ? nullptr : same_kernel(kernel, *earlier);
  const auto was = before == nullptr ? std::nullopt : figure_of(*before, condition.figure);
  judged.what = fmt::format("{} {}", condition.figure, figure_text(*now));
  if (was) judged.what += fmt::format(", was {} ({})", figure_text(*was), change_text(*was, *now));
  if (condition.is_relative() && !was) {
    judged.what += before == nullptr ? ": the earlier run has no such kernel" : ": the earlier run has no such figure";
    return judged;
  }
  judged.outcome = condition.holds(*now, was.value_or(0)) ? Judged::Outcome::failed : Judged::Outcome::passed;
  return judged;
}

// Why a condition was judged for no kernel.
std::string why_not_judged(const Condition& condition, bool is_of_any, bool has_earlier) {
  if (is_of_any) return fmt::format("no kernel has that figure{}", has_earlier ? " in both runs" : "");
  if (!condition.kernels) return "no kernel was measured";
  return fmt::format("no kernel that was measured matches {}", condition.kernels->typed());
}

}  // namespace

bool Condition::holds(double now, double earlier) const {
  const double threshold = threshold_of(*this, earlier);
  switch (order) {
    case Order::less:
      return now < threshold;
    case Order::at_most:
      return now <= threshold;
    case Order::at_least:
      return now >= threshold;
    case Order::greater:
      break;
  }
  return now > threshold;
}

Result<Condition> read_condition(const std::string& typed) {
  Condition condition;
  condition.typed = std::string(trimmed(typed));
  const std::string_view text = condition.typed;
  if (text.size() > kMostConditionBytes) return misread("", "it is too long");
  // From the end, because the name of a kernel may have any of these characters.
  const std::size_t order = text.find_last_of("<>=");
  const bool has_equal = order != std::string_view::npos && text[order] == '=';
  const std::size_t begin = has_equal && order > 0 ? order - 1 : order;
  if (order == std::string_view::npos || (text[begin] != '<' && text[begin] != '>'))
    return misread(condition.typed, "it has none of > >= < <=");
  condition.order = text[begin] == '>' ? (has_equal ? Condition::Order::at_least : Condition::Order::greater)
                                       : (has_equal ? Condition::Order::at_most : Condition::Order::less);
  std::string_view figure = trimmed(text.substr(0, begin));
  if (const std::size_t colon = figure.rfind(':'); colon != std::string_view::npos) {
    auto filter = KernelFilter::read(std::string(trimmed(figure.substr(0, colon))));
    if (!filter) return misread(condition.typed, filter.error().message);
    condition.kernels = *std::move(filter);
    figure = trimmed(figure.substr(colon + 1));
  }
  ROOFWALK_TRY_STATUS(read_figure(std::string(figure), condition));
  ROOFWALK_TRY_STATUS(read_value(trimmed(text.substr(order + 1)), condition));
  return condition;
}

std::vector<Judged> judge(const std::vector<Condition>& conditions, const Json& now, const Json* earlier) {
  std::vector<Judged> all;
  for (const Condition& condition : conditions) {
    bool is_judged = false, is_of_any = false;
    for (const Json& kernel : now.at("kernels")) {
      if (condition.kernels && !condition.kernels->matches(kernel.text_of("name"))) continue;
      is_of_any = true;
      all.push_back(judge_kernel(condition, kernel, earlier));
      is_judged |= all.back().outcome != Judged::Outcome::not_judged;
    }
    if (is_judged) continue;
    all.push_back(
        {"", condition.typed, Judged::Outcome::failed, why_not_judged(condition, is_of_any, earlier != nullptr)});
  }
  return all;
}

const Json* same_kernel(const Json& kernel, const Json& run) {
  const Json* found = nullptr;
  for (const Json& each : run.at("kernels")) {
    if (each.text_of("name") != kernel.text_of("name")) continue;
    if (found == nullptr || each.text_of("file") == kernel.text_of("file")) found = &each;
  }
  return found;
}

std::string change_text(double earlier, double now) {
  if (now == earlier) return "as before";
  if (earlier == 0) return "from nothing";
  constexpr double kTenfold = 10, kHardly = 0.005;
  const double ratio = now / earlier, percent = 100 * (ratio - 1);
  if (ratio >= kTenfold) return fmt::format("x{:.3g}", ratio);
  if (std::abs(percent) < kHardly) return percent > 0 ? "a little more" : "a little less";
  const int digits = std::abs(percent) >= 100 ? 0 : std::abs(percent) >= 1 ? 1 : 2;
  return fmt::format("{:+.{}f} %", percent, digits);
}

}  // namespace roofwalk
