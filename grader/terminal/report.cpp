#include "grader/terminal/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/roofline/si.h"
#include "grader/attempt/goals.h"

namespace roofwalk {
namespace {

constexpr std::size_t kAdviceLines = 8;  // enough for the longest diagnosis
constexpr std::size_t kLabel = 13;       // number of columns before a row's text
constexpr std::size_t kFewestColumns = 40;

class Page {
 public:
  explicit Page(std::size_t columns) : columns_(std::clamp(columns, kFewestColumns, kCardColumns)) {}

  std::size_t columns() const { return columns_; }

  // Sets the worth of the following lines.
  void section(Worth worth) { worth_ = worth; }

  void line(const std::string& text) { lines_.push_back({text, worth_}); }

  // Adds "  label     text", wrapped. `text` may contain colours.
  void row(std::string_view label, const std::string& text) {
    for (const std::string& piece : wrapped(text, columns_ - kLabel)) {
      line(fmt::format("  {:<11}{}", label, piece));
      label = "";
    }
  }

  // Adds running text under a label. Makes the text harmless, wraps it, and cuts it to `most_lines` lines.
  void prose(std::string_view label, std::string_view text, std::size_t most_lines) {
    std::istringstream in{std::string(text)};
    std::size_t used = 0;
    for (std::string part; std::getline(in, part);) {
      for (const std::string& piece : wrapped(printable(part), columns_ - kLabel)) {
        if (used == most_lines) return;
        row(used == 0 ? label : "", piece);
        ++used;
      }
    }
  }

  std::vector<CardLine> lines() && { return std::move(lines_); }

 private:
  std::size_t columns_;
  std::vector<CardLine> lines_;
  Worth worth_ = Worth::verdict;
};

std::string value(const Quantity& quantity) {
  if (!quantity.known()) return "unknown on this device";
  return si_text(quantity.value, quantity.unit);
}

std::string count(const Quantity& quantity) { return quantity.known() ? grouped(quantity.value) : "unknown"; }

// "up x3", or "down x3" for a factor of 1/3.
std::string direction(double times, const char* forward, const char* back) {
  return times > 0 && times < 1 ? fmt::format("{} {}", back, factor(1 / times))
                                : fmt::format("{} {}", forward, factor(times));
}

// The words for a movement. A factor that rounds to x1 is not a move.
std::string moved(const Movement& movement, WorkUnit unit) {
  const auto stays = [](double times) { return factor(times) == factor(1) || factor(1 / times) == factor(1); };
  const bool same_ai = stays(movement.right), same_speed = stays(movement.up);
  if (same_ai && same_speed) return "nowhere";
  if (same_ai) return direction(movement.up, "up", "down") + " at the same AI";
  const std::string across = direction(movement.right, "right", "left");
  return across + (same_speed ? fmt::format(" at the same {}", words_of(unit).per_second)
                              : ", " + direction(movement.up, "up", "down"));
}

std::string headline(const Attempt& attempt, const Colors& colors) {
  switch (attempt.judgement.verdict) {
    case Verdict::pass:
      return attempt.judgement.grade == Grade::ace ? colors.good("ACE") + ": every goal met"
                                                   : colors.good("PASS") + ": an ace is still possible";
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
  page.section(Worth::details);
  const bool exact = attempt.worst_error.value_or(0) == 0;
  const std::string where = exact ? std::string() : fmt::format(" ({})", attempt.worst_place);
  const std::string seed = attempt.seed ? fmt::format("seed {}", *attempt.seed) : "hidden seeds too";
  page.row("correct", fmt::format("yes: {} sizes, {}, worst error {:.3g}{}", attempt.cases, seed,
                                  attempt.worst_error.value_or(0), where));
}

// Shows at how many small sizes the kernel is wrong. If it is wrong at only some of them, a guard may be missing.
void small_sizes(const Attempt& attempt, Page& page) {
  const int wrong = attempt.wrong_small_sizes, all = attempt.small_sizes;
  page.row("", wrong == 0     ? fmt::format("right at all {} small sizes", all)
               : wrong == all ? fmt::format("wrong at all {} small sizes that ran", all)
                              : fmt::format("wrong at {} of the {} small sizes that ran", wrong, all));
}

// Shows the gaps at DRAM, and the gap to the roof at the level of the chart's axis. The algorithm's AI is about DRAM:
// at L1 each thread asks for its own values, so no kernel comes near.
void gaps(const Attempt& attempt, Page& page) {
  const Measurement& m = *attempt.measurement;
  if (m.vertical_gap.known() && m.horizontal_gap.known()) {
    page.row("gaps", fmt::format("{} below the roof, {} left of the algorithm's AI", factor(m.vertical_gap.value),
                                 factor(m.horizontal_gap.value)));
  }
  const LevelMeasurement& level = m.level(attempt.walk_level);
  const auto point = m.point(attempt.walk_level);
  if (attempt.walk_level == "dram" || !point || !level.roof.known()) return;
  page.row("", fmt::format("at {} {} below the roof", level_title(attempt.walk_level),
                           factor(level.roof.value / point->flops_per_s)));
}

std::string pairs_text(const PairedTimes& times, const std::string& baseline) {
  return fmt::format("{} the {}'s speed in {} pairs, 95 % interval {:.3g} to {:.3g}", factor(times.speedup), baseline,
                     times.pairs.size(), times.speedup_interval.low, times.speedup_interval.high);
}

// Shows the useful work, and FLOPs beyond it.
void work(const Attempt& attempt, Page& page) {
  const Measurement& m = *attempt.measurement;
  if (const WorkUnit unit = attempt.roofs.unit; unit != WorkUnit::flop) {
    const bool has_flops = m.executed_flops.get().value_or(0) > 0;
    page.row(words_of(unit).many,
             fmt::format("{} useful{}", count(m.useful_flops),
                         has_flops ? fmt::format("; {} FLOPs executed", count(m.executed_flops)) : std::string()));
  } else {
    // Where atomics do all the work, none is executed by threads: a factor of 0 says nothing.
    const bool has_both = m.executed_flops.get().value_or(0) > 0 && m.useful_flops.value > 0;
    page.row("FLOPs", fmt::format("{} useful, {} executed{}", count(m.useful_flops), count(m.executed_flops),
                                  has_both ? fmt::format(" ({})", factor(m.executed_flops.value / m.useful_flops.value))
                                           : std::string()));
  }
  if (m.atomic_flops.get().value_or(0) > 0) {
    page.row("", fmt::format("{} more by atomics, which add in L2 or in shared memory", count(m.atomic_flops)));
  }
  if (m.tensor_integer_operations.get().value_or(0) > 0) {
    page.row("", fmt::format("and {} operations on integers by tensor cores", count(m.tensor_integer_operations)));
  }
}

void figures(const Attempt& attempt, const WalkNews& news, Page& page) {
  const Measurement& m = *attempt.measurement;
  const LevelMeasurement& dram = m.level("dram");
  page.section(Worth::figures);
  page.row("time",
           fmt::format("{}{}, {} of the roof's {}", m.elapsed_ns.known() ? time_text(m.elapsed_ns.value) : "unknown",
                       attempt.time_is_modelled ? " (modelled)" : "", value(m.achieved_flops_per_s), value(dram.roof)));
  if (attempt.times) page.row("", pairs_text(attempt.times->pairs, attempt.baseline));
  page.section(Worth::details);
  work(attempt, page);
  page.row("DRAM", fmt::format("{} bytes{}, {} compulsory{}", count(dram.bytes),
                               attempt.bytes_are_modelled ? " (modelled)" : "", count(m.compulsory_bytes),
                               m.horizontal_gap.known() ? fmt::format(" ({})", factor(m.horizontal_gap.value)) : ""));
  if (attempt.finding && !attempt.finding->filling.empty()) page.row("SMs", attempt.finding->filling);
  page.section(Worth::figures);
  std::string at_level;
  if (attempt.walk_level != "dram") {
    at_level = fmt::format(", {} at {}", value(m.level(attempt.walk_level).ai), level_title(attempt.walk_level));
  }
  page.row("AI", fmt::format("{} observed, {} algorithmic{}", value(dram.ai), value(m.algorithmic_ai), at_level));
  gaps(attempt, page);
  page.section(Worth::movement);
  const std::string axis = attempt.walk_level == "dram" ? "" : fmt::format(" (at {})", level_title(attempt.walk_level));
  if (attempt.is_starter) {
    page.row("moved", "not yet: this is the starter");
  } else if (attempt.moved) {
    page.row("moved", moved(*attempt.moved, attempt.roofs.unit) + " since the " + attempt.baseline + axis);
  }
  if (news.unchanged) {
    page.row("", "nothing changed since your last attempt");
  } else if (news.since_last) {
    page.row("", moved(*news.since_last, attempt.roofs.unit) + " since your last attempt");
  } else if (news.follows_older) {
    page.row("", "your last attempt was timed by an older model; run it again to compare the two");
  }
}

// "met", or by how much the goal is missed. A missed goal is red only if the pass depends on it.
std::string goal_outcome(const GoalResult& row, const Colors& colors) {
  if (row.met) return colors.good("met");
  const double more = *row.reached > 0 ? row.wanted / *row.reached : 0;
  const double times = more > 0 && is_upper_bound(row.goal.what) ? 1 / more : more;
  const bool nearly = times > 0 && factor(times) == factor(1);
  const std::string by = nearly      ? fmt::format("{:.2g} %", 100 * (times - 1))
                         : times > 0 ? factor(times)
                                     : std::string();
  if (row.wanted_for == Grade::ace) return colors.faint(by.empty() ? "to go" : by + " to go");
  return colors.bad(by.empty() ? "missed" : "missed by " + by);
}

// Shows the goals. If the attempt did not pass, those on which the pass depends come first.
void goals(const Attempt& attempt, const Colors& colors, Page& page) {
  page.section(Worth::verdict);
  std::vector<GoalResult> rows = attempt.judgement.goals;
  if (attempt.judgement.verdict == Verdict::fail) {
    std::stable_partition(rows.begin(), rows.end(), [](const auto& row) { return row.wanted_for == Grade::pass; });
  }
  for (const GoalResult& row : rows) {
    if (!row.reached) continue;
    page.row("goal " + goal_direction(row.goal),
             fmt::format("{} {}, {} wants {}: {}", goal_value(row.goal, *row.reached), goal_phrase(row.goal),
                         grade_name(row.wanted_for), goal_threshold(row.goal, row.wanted), goal_outcome(row, colors)));
  }
  for (const std::string& sentence : attempt.goals_left_out) page.prose("no goal", sentence, 3);
}

// Shows what a library reaches, if that has been measured.
void library(const Attempt& attempt, const WalkNews& news, Page& page) {
  if (!news.library || news.library->achieved_flops_per_s <= 0) return;
  const double speed = attempt.measurement->achieved_flops_per_s.value / news.library->achieved_flops_per_s;
  page.section(Worth::movement);
  page.row("library", fmt::format("{}, yours is {} as fast", library_phrase(*news.library), factor(speed)));
}

// Compares predictions with results, once the results are known.
void predictions(const Attempt& attempt, const WalkNews& news, Page& page) {
  page.section(Worth::movement);
  const Prediction& said = attempt.prediction;
  const auto point = attempt.measurement->point(attempt.walk_level);
  std::vector<std::string> lines;
  if (attempt.is_starter) {
    if (said.ai && point) lines.push_back(compare_ai(*said.ai, point->ai, level_title(attempt.walk_level)));
    if (said.bound && attempt.bound) lines.push_back(compare_bound(*said.bound, *attempt.bound));
  } else if (news.first_move && said.moves) {
    lines.push_back(compare_moves(*said.moves, *direction_of(*attempt.moved)));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) page.prose(i == 0 ? "predicted" : "", lines[i], 2);
}

void advice(const Attempt& attempt, Page& page) {
  page.section(Worth::advice);
  const Finding& finding = *attempt.finding;
  page.prose("look at", finding.diagnosis.text, kAdviceLines);
  page.section(Worth::details);
  if (finding.traffic_line > 0) {
    const std::string text = fmt::format("{}:{}: {}", attempt.file, finding.traffic_line, finding.traffic_source);
    page.row("most bytes", shortened(printable(text), page.columns() - kLabel));
  }
}

void notes(const Attempt& attempt, Page& page) {
  page.section(Worth::details);
  for (const std::string& note : attempt.notes) page.prose("note", note, 6);
}

void warnings(const Attempt& attempt, Page& page) {
  constexpr std::size_t kMost = 3;
  page.section(Worth::details);
  for (std::size_t i = 0; i < std::min(attempt.warnings.size(), kMost); ++i) {
    const Fault& warning = attempt.warnings[i];
    page.prose("warning", Error{warning.message, warning.file, warning.line}.text(), 4);
  }
}

// Shows the kernels' printf output, line by line.
void printed(const Attempt& attempt, Page& page) {
  constexpr std::uint64_t kMost = 20;
  if (attempt.printed.text.empty()) return;
  page.section(Worth::details);
  page.row("printed", fmt::format("at {}{}", attempt.printed_case,
                                  attempt.time_is_modelled ? "; printf takes no modelled time" : ""));
  std::istringstream in(attempt.printed.text);
  std::uint64_t lines = 0;
  for (std::string text; std::getline(in, text); ++lines) {
    if (lines < kMost) page.line("    " + shortened(printable(text), page.columns() - 4));
  }
  const std::uint64_t more = attempt.printed.more_lines + (lines > kMost ? lines - kMost : 0);
  if (more != 0) page.line(fmt::format("    ... {} more line{}", more, more == 1 ? "" : "s"));
}

// Shows the picture's path; for the starter also how to see the plot in the terminal.
void places(const Attempt& attempt, const WalkNews& news, Page& page) {
  page.section(Worth::places);
  if (!attempt.plot.empty()) {
    page.row("plot", printable(attempt.plot));
    if (attempt.is_starter && news.joined)
      page.row("", "in the terminal: ./roofwalk plot " + attempt.chapter + attempt.device_option);
  } else if (news.is_beside) {
    page.row("plot", "none: not kept in your walk; --save keeps it");
  }
  if (!news.plot_trouble.empty()) page.prose("plot", "none: " + news.plot_trouble, 2);
  page.section(Worth::verdict);
  if (!news.record_trouble.empty()) page.prose("not kept", news.record_trouble, 3);
}

void what_next(const Attempt& attempt, const WalkNews& news, Page& page) {
  page.section(Worth::next);
  const std::string on_device = attempt.chapter + attempt.device_option;
  if (attempt.judgement.verdict != Verdict::pass) {
    page.row("next", fmt::format("edit the file and run again; `./roofwalk hint {}` helps", on_device));
    if (attempt.judgement.verdict == Verdict::fail) {
      page.row("", fmt::format("`./roofwalk profile {}` shows which line takes the time", on_device));
    }
    return;
  }
  if (!news.joined && !news.unchanged) return;  // a file outside the walk does not unlock the next chapter
  page.row("solutions", fmt::format("`./roofwalk solution {}` shows the steps", on_device));
  if (attempt.judgement.grade != Grade::ace) {
    page.row("ace", fmt::format("edit the file and run again; `./roofwalk hint {}` helps", on_device));
  }
  page.row("next",
           news.next_chapter.empty()
               ? fmt::format("every chapter is passed; `./roofwalk list{}` shows the grades", attempt.device_option)
               : fmt::format("{}: `./roofwalk next{}` says how", news.next_chapter, attempt.device_option));
}

}  // namespace

namespace {

// Shows the source line to which the first reason points.
void line_of_end(const Attempt& attempt, Page& page) {
  if (attempt.ended_source.empty()) return;
  page.row(fmt::format("line {}", attempt.ended_line),
           shortened(printable(attempt.ended_source), page.columns() - kLabel));
}

}  // namespace

std::vector<CardLine> card(const Attempt& attempt, const WalkNews& news, const Colors& colors, std::size_t columns) {
  Page page(columns);
  page.section(Worth::advice);
  const std::string title = fmt::format("{} on {}, {}: {}", colors.strong(attempt.chapter), attempt.device,
                                        attempt.size.text(), printable(attempt.file));
  for (const std::string& line : wrapped(title, page.columns())) page.line(line);
  page.section(Worth::verdict);
  page.line(headline(attempt, colors));
  if (!attempt.measurement || attempt.judgement.verdict == Verdict::not_graded) {
    for (std::size_t i = 0; i < attempt.judgement.reasons.size(); ++i) {
      page.prose("", attempt.judgement.reasons[i], 12);
      if (i == 0) line_of_end(attempt, page);
    }
    if (attempt.judgement.verdict == Verdict::incorrect && attempt.small_sizes > 0) small_sizes(attempt, page);
  }
  if (attempt.is_starter && attempt.judgement.verdict == Verdict::fault && attempt.baseline != "starter") {
    page.prose("", "This is the starter: to mend its fault is the chapter's task. Goals are over a reference kernel.",
               3);
  }
  if (!attempt.measurement && attempt.finding) page.prose("look at", attempt.finding->diagnosis.text, kAdviceLines);
  if (attempt.measurement) {
    correctness(attempt, page);
    figures(attempt, news, page);
    goals(attempt, colors, page);
    library(attempt, news, page);
    predictions(attempt, news, page);
    if (attempt.finding) advice(attempt, page);
  }
  notes(attempt, page);
  warnings(attempt, page);
  printed(attempt, page);
  places(attempt, news, page);
  what_next(attempt, news, page);
  return std::move(page).lines();
}

std::vector<CardLine> fitted(std::vector<CardLine> lines, std::size_t rows) {
  while (lines.size() > rows) {
    const auto least = std::max_element(lines.rbegin(), lines.rend(),
                                        [](const CardLine& a, const CardLine& b) { return a.worth < b.worth; });
    lines.erase(std::next(least).base());
  }
  return lines;
}

std::string report(const Attempt& attempt, const WalkNews& news, const Colors& colors, std::size_t columns) {
  std::string text;
  for (const CardLine& line : card(attempt, news, colors, columns)) text += line.text + "\n";
  return text;
}

}  // namespace roofwalk
