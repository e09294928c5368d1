#include "grader/attempt/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "grader/attempt/goals.h"

namespace roofwalk {
namespace {

constexpr std::array<std::string_view, 8> kVerdictNames = {"pass",    "fail",          "incorrect",  "fault",
                                                           "refused", "compile_error", "not_graded", "too_noisy"};
constexpr std::array<std::string_view, 3> kGradeNames = {"none", "pass", "ace"};

bool is_share(const Goal& goal) {
  return goal.what == Goal::What::share_of_roof || goal.what == Goal::What::share_of_algorithmic_ai ||
         goal.what == Goal::What::sector_use || goal.what == Goal::What::share_of_peak ||
         goal.what == Goal::What::active_lanes || goal.what == Goal::What::sm_active;
}

std::optional<double> threshold(const Goal& goal, Grade grade) { return grade == Grade::ace ? goal.ace : goal.pass; }

std::optional<double> over(std::optional<double> value, std::optional<double> base) {
  if (!value || !base || *base <= 0) return std::nullopt;
  return *value / *base;
}

// How many times the larger of two figures is the smaller.
std::optional<double> factor_between(std::optional<double> figure, std::optional<double> other) {
  const auto ratio = over(figure, other);
  if (!ratio || *ratio <= 0) return std::nullopt;
  return std::max(*ratio, 1 / *ratio);
}

std::optional<double> shared_bytes_unlike_starter(const Evidence& evidence) {
  constexpr double kNoneForSome = 1000;  // one of the two kernels uses no shared memory
  constexpr auto kWhat = Goal::What::shared_bytes_unlike_starter;
  const auto starter = evidence.starter_counts.find(goal_what_name(kWhat));
  if (starter == evidence.starter_counts.end()) return std::nullopt;
  const auto own = count_of(kWhat, *evidence.measurement);
  if (!own) return std::nullopt;
  if (*own == starter->second) return 1;
  if (*own == 0 || starter->second == 0) return kNoneForSome;
  return factor_between(own, starter->second);
}

std::optional<double> reached(const Goal& goal, const Evidence& evidence) {
  if (!evidence.measurement) return std::nullopt;
  const Measurement& m = *evidence.measurement;
  if (goal.what == Goal::What::shared_bytes_unlike_starter) return shared_bytes_unlike_starter(evidence);
  if (is_count(goal.what)) return count_of(goal.what, m);
  const LevelMeasurement& level = m.level(goal.level);
  const auto starter = evidence.starter.find(goal.level);
  const bool has_starter = starter != evidence.starter.end();
  switch (goal.what) {
    case Goal::What::ai_over_starter:
      return has_starter ? over(level.ai.get(), starter->second.ai) : std::nullopt;
    case Goal::What::ai_unlike_starter:
      return has_starter ? factor_between(level.ai.get(), starter->second.ai) : std::nullopt;
    case Goal::What::share_of_algorithmic_ai:
      return over(level.ai.get(), m.algorithmic_ai.get());
    case Goal::What::sector_use:
      return m.sector_use.get();
    case Goal::What::share_of_roof:
      return over(m.achieved_flops_per_s.get(), roof_of(goal, evidence.goals, m));
    case Goal::What::share_of_peak:
      return over(m.achieved_flops_per_s.get(), m.peak_flops_per_s.get());
    case Goal::What::flops_over_starter:
      return has_starter ? over(m.achieved_flops_per_s.get(), starter->second.flops_per_s) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool meets(const Evidence& evidence, std::size_t place, std::optional<double> value, Grade grade) {
  const auto wanted = threshold(evidence.goals[place], grade);
  if (!wanted) return true;
  const auto decided = evidence.decided.find({place, grade});
  if (decided != evidence.decided.end()) return decided->second;
  if (!value) return false;
  return is_upper_bound(evidence.goals[place].what) ? *value <= *wanted : *value >= *wanted;
}

// Sets grade and goals; the caller sets the verdict.
void grade_goals(const Evidence& evidence, Judgement& judgement) {
  bool pass = evidence.measurement.has_value(), ace = pass;
  std::vector<std::optional<double>> values;
  for (std::size_t i = 0; i < evidence.goals.size(); ++i) {
    values.push_back(reached(evidence.goals[i], evidence));
    pass = pass && meets(evidence, i, values.back(), Grade::pass);
    ace = ace && meets(evidence, i, values.back(), Grade::pass) && meets(evidence, i, values.back(), Grade::ace);
  }
  judgement.grade = ace ? Grade::ace : pass ? Grade::pass : Grade::none;
  const Grade next = pass ? Grade::ace : Grade::pass;
  for (std::size_t i = 0; i < evidence.goals.size(); ++i) {
    const Goal& goal = evidence.goals[i];
    GoalResult row{goal, next, 0, values[i], false};
    if (!threshold(goal, next)) row.wanted_for = next == Grade::ace ? Grade::pass : Grade::ace;
    row.wanted = threshold(goal, row.wanted_for).value_or(0);
    row.met = row.reached && meets(evidence, i, row.reached, row.wanted_for);
    judgement.goals.push_back(std::move(row));
  }
}

std::string missed(const GoalResult& row) {
  return fmt::format("{}: {} {}, a pass wants {}", goal_direction(row.goal),
                     goal_value(row.goal, row.reached.value_or(0)), goal_phrase(row.goal),
                     goal_threshold(row.goal, row.wanted));
}

std::vector<std::string> missed_goals(const Judgement& judgement) {
  std::vector<std::string> reasons;
  for (const GoalResult& row : judgement.goals) {
    if (row.wanted_for == Grade::pass && !row.met) reasons.push_back(missed(row));
  }
  return reasons;
}

// Whether a goal is about what a kernel does, however long it takes.
bool is_without_time(const Goal& goal) {
  const bool is_of_cycles = goal.what == Goal::What::sm_active || goal.what == Goal::What::resident_warps_per_scheduler;
  return goal.axis == Goal::Axis::right || (is_count(goal.what) && !is_of_cycles);
}

// The missed goals that do not depend on time.
std::vector<std::string> missed_without_time(const Judgement& judgement) {
  std::vector<std::string> reasons;
  for (const GoalResult& row : judgement.goals) {
    if (is_without_time(row.goal) && row.wanted_for == Grade::pass && !row.met) reasons.push_back(missed(row));
  }
  return reasons;
}

std::vector<std::string> unmeasured_goals(const Judgement& judgement) {
  std::vector<std::string> reasons;
  for (const GoalResult& row : judgement.goals) {
    if (!row.reached)
      reasons.push_back(fmt::format("this device cannot count what the goal `{}` is about ({})",
                                    goal_direction(row.goal), goal_phrase(row.goal)));
  }
  return reasons;
}

std::string outcome_reason(const CaseOutcome& outcome) {
  std::string reason = outcome.correctness.reason;
  if (outcome.correctness.looks_like_half && reason.find("half") == std::string::npos) {
    reason += "; all errors are of the size that half precision makes";
  }
  return Error{fmt::format("{} ({})", reason, outcome.case_name), outcome.file, outcome.line}.text();
}

// Whether a fault happened in a thread. A step of the plan that is not a kernel has no threads, nor has a kernel that
// never starts.
bool is_of_thread(const Fault& fault) {
  return fault.kind != FaultKind::resource && !fault.kernel.empty() && fault.kernel != "memset" &&
         fault.kernel != "memcpy";
}

}  // namespace

std::string_view verdict_name(Verdict verdict) { return kVerdictNames[static_cast<std::size_t>(verdict)]; }
std::string_view grade_name(Grade grade) { return kGradeNames[static_cast<std::size_t>(grade)]; }

Grade grade_from_name(std::string_view name) {
  const auto found = std::find(kGradeNames.begin(), kGradeNames.end(), name);
  return found == kGradeNames.end() ? Grade::none : static_cast<Grade>(found - kGradeNames.begin());
}

LevelPoints points_of(const Measurement& measurement) {
  LevelPoints points;
  for (const LevelMeasurement& level : measurement.levels) {
    if (const auto point = measurement.point(level.level)) points[level.level] = *point;
  }
  return points;
}

std::optional<double> count_of(Goal::What what, const Measurement& m) {
  switch (what) {
    case Goal::What::shared_wavefronts_over_least:
      return m.shared_wavefronts.get() == 0.0 ? 1 : m.shared_wavefronts_over_least.get();
    case Goal::What::active_lanes:
      return m.active_lanes.get();
    case Goal::What::executed_over_useful:
      return m.executed_over_useful.get();
    case Goal::What::atomics_per_element:
      return m.atomics_per_element.get();
    case Goal::What::sm_active:
      return m.sm_active.get();
    case Goal::What::resident_warps_per_scheduler:
      return m.resident_warps_per_scheduler.get();
    case Goal::What::shared_bytes_unlike_starter:
      return m.shared_bytes.get();
    default:
      return std::nullopt;
  }
}

GoalCounts counts_of(const Measurement& measurement) {
  GoalCounts counts;
  for (const auto what : {Goal::What::shared_wavefronts_over_least, Goal::What::active_lanes,
                          Goal::What::executed_over_useful, Goal::What::atomics_per_element, Goal::What::sm_active,
                          Goal::What::resident_warps_per_scheduler, Goal::What::shared_bytes_unlike_starter}) {
    if (const auto value = count_of(what, measurement)) counts[goal_what_name(what)] = *value;
  }
  return counts;
}

Judgement judge(const Evidence& evidence) {
  Judgement judgement;
  const auto end = [&](Verdict verdict, std::vector<std::string> reasons) {
    judgement.verdict = verdict;
    judgement.reasons = std::move(reasons);
    if (verdict != Verdict::pass) judgement.grade = Grade::none;
    return judgement;
  };
  grade_goals(evidence, judgement);
  if (evidence.compile_error) return end(Verdict::compile_error, {evidence.compile_error->text()});
  if (evidence.refusal) {
    Error told = *evidence.refusal;
    if (!evidence.fault_case.empty()) told.message += " at " + evidence.fault_case;
    return end(Verdict::refused, {told.text()});
  }
  if (evidence.fault) {
    const Fault& fault = *evidence.fault;
    const std::string message = fmt::format("{} ({})", fault.message, evidence.fault_case);
    std::vector<std::string> reasons{Error{message, fault.file, fault.line}.text()};
    if (is_of_thread(fault)) {
      reasons.push_back(fmt::format("thread ({}, {}, {}) of block ({}, {}, {}) in {}", fault.thread.x, fault.thread.y,
                                    fault.thread.z, fault.block.x, fault.block.y, fault.block.z, fault.kernel));
    }
    return end(Verdict::fault, std::move(reasons));
  }
  if (!evidence.outcome) return end(Verdict::not_graded, {"its result was never checked"});
  if (!evidence.outcome->correctness.correct) return end(Verdict::incorrect, {outcome_reason(*evidence.outcome)});
  if (!evidence.measurement) return end(Verdict::not_graded, {"it was never measured"});
  if (!evidence.implausible.empty()) return end(Verdict::not_graded, evidence.implausible);
  if (auto unmeasured = unmeasured_goals(judgement); !unmeasured.empty()) return end(Verdict::not_graded, unmeasured);
  if (auto missed = missed_without_time(judgement); evidence.noise && !missed.empty()) {
    return end(Verdict::fail, std::move(missed));  // better times would not change these goals
  }
  if (evidence.noise) return end(Verdict::too_noisy, {*evidence.noise});
  if (judgement.grade != Grade::none) return end(Verdict::pass, {});
  return end(Verdict::fail, missed_goals(judgement));
}

std::string level_title(std::string_view level) {
  std::string title(level);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return title;
}

std::string goal_phrase(const Goal& goal) {
  const char* baseline = goal.is_over_reference ? "the reference's" : "the starter's";
  switch (goal.what) {
    case Goal::What::ai_over_starter:
      return fmt::format("{} AI at {}", baseline, level_title(goal.level));
    case Goal::What::ai_unlike_starter:
      return fmt::format("away from {} AI at {}", baseline, level_title(goal.level));
    case Goal::What::share_of_algorithmic_ai:
      return fmt::format("of the algorithm's AI (at {})", level_title(goal.level));
    case Goal::What::sector_use:
      return fmt::format("of the {} sectors needed", level_title(goal.level));
    case Goal::What::share_of_roof:
      // At L1 and L2, the roof above the dot is often the compute roof, so these phrases do not name a memory roof.
      return goal.level == "dram" ? "of the DRAM roof" : fmt::format("of the roof (at {})", level_title(goal.level));
    case Goal::What::share_of_peak:
      return "of the flat roof";
    case Goal::What::flops_over_starter:
      return fmt::format("{} {}", baseline, words_of(goal.unit).per_second);
    case Goal::What::shared_wavefronts_over_least:
      return "the fewest wavefronts of shared memory";
    case Goal::What::active_lanes:
      return "of its warps' lanes active";
    case Goal::What::executed_over_useful:
      return fmt::format("the useful {}", words_of(goal.unit).many);
    case Goal::What::atomics_per_element:
      return fmt::format("atomic/{}", words_of(goal.unit).one);  // a unit, as FLOP/B
    case Goal::What::sm_active:
      return "of the SMs' cycles have a warp";
    case Goal::What::resident_warps_per_scheduler:
      return "warps on each scheduler";
    case Goal::What::shared_bytes_unlike_starter:
      return fmt::format("away from {} bytes of shared memory", baseline);
  }
  return "";
}

std::string goal_value(const Goal& goal, double value) {
  const bool is_average =
      goal.what == Goal::What::atomics_per_element || goal.what == Goal::What::resident_warps_per_scheduler;
  if (is_average) return fmt::format("{:.3g}", value);
  return is_share(goal) ? fmt::format("{:.3g} %", value * 100) : fmt::format("x{:.3g}", value);
}

std::string goal_threshold(const Goal& goal, double value) {
  return (is_upper_bound(goal.what) ? "at most " : "") + goal_value(goal, value);
}

}  // namespace roofwalk
