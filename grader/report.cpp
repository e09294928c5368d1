#include "grader/report.h"

#include <fmt/format.h>

#include <sstream>

#include "common/roofline/si.h"

namespace roofwalk {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kAdviceLines = 6;
constexpr std::size_t kLabel = 13;  // columns before a row's text

class Page {
 public:
  void line(const std::string& text = {}) { text_ += text + "\n"; }

  // "  label     text": `text` may hold colours and is taken as it is.
  void row(std::string_view label, const std::string& text) { line(fmt::format("  {:<11}{}", label, text)); }

  // The same for running text, which is made harmless and wrapped.
  void prose(std::string_view label, std::string_view text, std::size_t most_lines) {
    std::istringstream in{std::string(text)};
    std::size_t used = 0;
    for (std::string part; std::getline(in, part);) {
      for (const std::string& piece : wrapped(printable(part), kColumns - kLabel)) {
        if (used == most_lines) return;
        row(used == 0 ? label : "", piece);
        ++used;
      }
    }
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string value(const Quantity& quantity) {
  if (!quantity.known()) return "unknown on this device";
  return si_text(quantity.value, quantity.unit);
}

std::string count(const Quantity& quantity) { return quantity.known() ? grouped(quantity.value) : "unknown"; }

// "up x3", or "down x3" for a third.
std::string direction(double times, const char* forward, const char* back) {
  return times > 0 && times < 1 ? fmt::format("{} {}", back, factor(1 / times))
                                : fmt::format("{} {}", forward, factor(times));
}

std::string moved(const Movement& movement) {
  return direction(movement.right, "right", "left") + ", " + direction(movement.up, "up", "down");
}

std::string headline(const Attempt& attempt, const Colors& colors) {
  switch (attempt.judgement.verdict) {
    case Verdict::pass:
      return attempt.judgement.grade == Grade::ace ? colors.good("ACE") + ": every goal met"
                                                   : colors.good("PASS") + ": an ace is still to be had";
    case Verdict::fail:
      return colors.bad("NOT YET") + ": correct, but a goal is missed";
    case Verdict::incorrect:
      return colors.bad("INCORRECT");
    case Verdict::fault:
      return colors.bad("FAULT") + ": the kernel was stopped";
    case Verdict::refused:
      return colors.bad("REFUSED") + ": this cannot be run";
    case Verdict::compile_error:
      return colors.bad("DOES NOT COMPILE");
    case Verdict::not_graded:
      return colors.bad("NOT GRADED");
    case Verdict::too_noisy:
      return colors.bad("TOO NOISY TO GRADE");
  }
  return {};
}

void correctness(const Attempt& attempt, Page& page) {
  const bool exact = attempt.worst_error.value_or(0) == 0;
  const std::string where = exact ? std::string() : fmt::format(" ({})", attempt.worst_place);
  page.row("correct", fmt::format("yes: {} sizes, seed {}, worst error {:.3g}{}", attempt.cases, attempt.seed,
                                  attempt.worst_error.value_or(0), where));
}

void figures(const Attempt& attempt, const WalkNews& news, Page& page) {
  const Measurement& m = *attempt.measurement;
  const LevelMeasurement& dram = m.level("dram");
  page.row("time",
           fmt::format("{}{}, {} of the roof's {}", m.elapsed_ns.known() ? time_text(m.elapsed_ns.value) : "unknown",
                       attempt.time_is_modelled ? " (modelled)" : "", value(m.achieved_flops_per_s), value(dram.roof)));
  const bool has_both = m.executed_flops.known() && m.useful_flops.value > 0;
  page.row("FLOPs", fmt::format("{} useful, {} executed{}", count(m.useful_flops), count(m.executed_flops),
                                has_both ? fmt::format(" ({})", factor(m.executed_flops.value / m.useful_flops.value))
                                         : std::string()));
  page.row("DRAM", fmt::format("{} bytes{}, {} compulsory{}", count(dram.bytes),
                               attempt.bytes_are_modelled ? " (modelled)" : "", count(m.compulsory_bytes),
                               m.horizontal_gap.known() ? fmt::format(" ({})", factor(m.horizontal_gap.value)) : ""));
  std::string at_level;
  if (attempt.walk_level != "dram") {
    at_level = fmt::format(", {} at {}", value(m.level(attempt.walk_level).ai), level_title(attempt.walk_level));
  }
  page.row("AI", fmt::format("{} observed, {} algorithmic{}", value(dram.ai), value(m.algorithmic_ai), at_level));
  if (m.vertical_gap.known() && m.horizontal_gap.known()) {
    page.row("gaps", fmt::format("{} below the roof, {} left of the algorithm's AI", factor(m.vertical_gap.value),
                                 factor(m.horizontal_gap.value)));
  }
  const std::string axis = attempt.walk_level == "dram" ? "" : fmt::format(" (at {})", level_title(attempt.walk_level));
  if (attempt.is_starter) {
    page.row("moved", "not yet: this is the starter");
  } else if (attempt.moved) {
    page.row("moved", moved(*attempt.moved) + " since the starter" + axis);
  }
  if (news.unchanged) {
    page.row("", "nothing changed since your last attempt");
  } else if (news.since_last) {
    page.row("", moved(*news.since_last) + " since your last attempt");
  }
}

void goals(const Attempt& attempt, const Colors& colors, Page& page) {
  for (const GoalResult& row : attempt.judgement.goals) {
    if (!row.reached) continue;
    const std::string how = row.met            ? colors.good("met")
                            : *row.reached > 0 ? colors.bad("missed by " + factor(row.wanted / *row.reached))
                                               : colors.bad("missed");
    page.row("goal " + goal_axis_name(row.goal.axis),
             fmt::format("{} {}, {} wants {}: {}", goal_value(row.goal, *row.reached), goal_phrase(row.goal),
                         grade_name(row.wanted_for), goal_value(row.goal, row.wanted), how));
  }
}

void advice(const Attempt& attempt, Page& page) {
  const Finding& finding = *attempt.finding;
  page.prose("look at", finding.diagnosis.text, kAdviceLines);
  if (finding.traffic_line > 0) {
    const std::string text = fmt::format("{}:{}: {}", attempt.file, finding.traffic_line, finding.traffic_source);
    page.row("most bytes", shortened(printable(text), kColumns - kLabel));
  }
}

}  // namespace

std::string report(const Attempt& attempt, const WalkNews& news, const Colors& colors) {
  Page page;
  page.line(fmt::format("{} on {}, {}: {}", colors.strong(attempt.chapter), attempt.device, attempt.size.text(),
                        printable(attempt.file)));
  page.line(headline(attempt, colors));
  if (!attempt.measurement || attempt.judgement.verdict == Verdict::not_graded) {
    for (const std::string& reason : attempt.judgement.reasons) page.prose("", reason, 12);
  }
  if (!attempt.measurement && attempt.finding) page.prose("look at", attempt.finding->diagnosis.text, kAdviceLines);
  if (attempt.measurement) {
    correctness(attempt, page);
    figures(attempt, news, page);
    goals(attempt, colors, page);
    if (attempt.finding) advice(attempt, page);
  }
  if (!attempt.plot.empty()) page.row("plot", printable(attempt.plot));
  if (!news.plot_trouble.empty()) page.prose("plot", "none: " + news.plot_trouble, 2);
  if (attempt.judgement.verdict != Verdict::pass) {
    page.row("next", fmt::format("edit the file and run again; `./roofwalk hint {}` helps", attempt.chapter));
  }
  return page.text();
}

}  // namespace roofwalk
