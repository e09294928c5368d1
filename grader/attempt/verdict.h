// Who passes and why: turns evidence into a verdict, a grade and the table of goals. Pure functions, without devices
// and files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/exercise/chapter.h"
#include "common/measure/measurement.h"
#include "common/record/fault.h"
#include "common/verify/verify.h"

namespace roofwalk {

enum class Verdict { pass, fail, incorrect, fault, refused, compile_error, not_graded, too_noisy };
enum class Grade { none, pass, ace };

std::string_view verdict_name(Verdict verdict);
std::string_view grade_name(Grade grade);
Grade grade_from_name(std::string_view name);  // Grade::none for any other text

// A dot per level; levels that a device cannot count are absent.
using LevelPoints = std::map<std::string, Point, std::less<>>;
LevelPoints points_of(const Measurement& measurement);

// Returns the figure that a goal about a count (is_count) asks for; nullopt if it is unknown. A kernel that does not
// use shared memory needs, and takes, no wavefronts: 1. Of shared_bytes_unlike_starter, the kernel's own bytes.
std::optional<double> count_of(Goal::What what, const Measurement& measurement);

// All known figures of that kind, by the goal's name.
using GoalCounts = std::map<std::string, double, std::less<>>;
GoalCounts counts_of(const Measurement& measurement);

// One row of the goal table. `wanted_for` is pass until all goals are met for a pass, then ace; or the other of the two
// if the goal has no threshold for it. `wanted` is its threshold.
struct GoalResult {
  Goal goal;
  Grade wanted_for = Grade::pass;
  double wanted = 0;
  std::optional<double> reached;  // nullopt if it could not be measured
  bool met = false;
};

// The correctness case that went wrong, or the last one if none did.
struct CaseOutcome {
  std::string case_name;  // "n=33, seed 1"
  Correctness correctness;
  std::string file;  // the learner's file, whose `line` is worth a look; empty if the case was right
  int line = 0;
};

// The known facts about an attempt. If something goes wrong in a step, later steps are skipped, so members may be
// missing.
struct Evidence {
  std::optional<Error> compile_error;
  std::optional<Error> refusal;  // refusal of the plan or the PTX
  std::optional<Fault> fault;
  std::string fault_case;  // in the form of CaseOutcome::case_name
  std::optional<CaseOutcome> outcome;
  std::optional<std::string> noise;  // the reason why this device's times cannot be trusted now
  std::optional<Measurement> measurement;
  std::vector<std::string> implausible;
  LevelPoints starter;
  GoalCounts starter_counts = {};
  std::vector<Goal> goals;
  // Whether the paired times meet a goal, by the goal's index in `goals` and by grade. They overrule the single time of
  // the measurement, which may meet a goal by chance.
  std::map<std::pair<std::size_t, Grade>, bool> decided;
};

struct Judgement {
  Verdict verdict = Verdict::not_graded;
  Grade grade = Grade::none;
  std::vector<std::string> reasons;  // empty for a pass; a compiler's message may have several lines
  std::vector<GoalResult> goals;     // one per goal, in the chapter's order
};

Judgement judge(const Evidence& evidence);

// Texts for people: value and phrase together say, for example, "62 % of the DRAM roof" or "x3.4 the starter's AI at
// L1".
std::string goal_value(const Goal& goal, double value);
std::string goal_threshold(const Goal& goal, double value);  // "62 %", or "at most x1.05" for an upper bound
std::string goal_phrase(const Goal& goal);

// "dram" -> "DRAM", for people.
std::string level_title(std::string_view level);

}  // namespace roofwalk
