// What a class achieved: a pure function of what was handed in, how it was graded, and the course's terms. Every table,
// export and page is made from it, and it holds no time of grading: the same submissions give the same gradebook.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "grader/class/batch/grade_store.h"
#include "grader/class/terms/course_file.h"
#include "grader/class/terms/credit.h"

namespace roofwalk {

struct Column {
  std::string chapter, title;
  double points = 0, weight = 0, pass_share = 0;
  std::optional<std::int64_t> deadline_s;
  std::string level;            // whose axis the chapter's dots are drawn on
  int deadline_offset_min = 0;  // as ChapterTerms has it
  std::string starter_sha256 = {};
};

// Whether a grade is what this program would give now.
enum class GradedBy { these_terms, another_grader, other_terms };

// One submission, judged or not.
struct Entry {
  std::string label, source_sha256, key;
  std::int64_t submitted_at_s = 0;
  std::int64_t submitted_again_at_s = 0;  // when the same bytes came last
  LateMark mark = LateMark::none;         // where the platform says only whether it was late, and no time is known
  int late_days = 0;                      // begun since the deadline
  double late_factor = 1;                 // what is left of the points for that
  std::string verdict;                    // of roofwalk.attempt/1; empty where it has no grade yet
  std::string grade;                      // none, pass, ace
  std::vector<std::string> reasons;       // of the verdict; or why there is none
  std::vector<GoalScale> scales;          // of its goals, where it was measured
  std::optional<double> credit;           // 0 to 1, lateness left out; nothing where nobody can say
  std::optional<double> points;           // with it
  std::optional<Point> dot;               // at the column's level
  bool boxed = false;
  bool is_starter = false;  // unchanged
  GradedBy graded_by = GradedBy::these_terms;
};

struct Cell {
  enum class State { graded, not_graded, nothing };  // not_graded: a person has to look; never counted as 0
  State state = State::nothing;
  std::vector<Entry> entries;         // all of them, in the order in which they were handed in
  std::optional<std::size_t> counts;  // the one that gives the points
  // Other students whose counting file is the same, byte for byte; nobody's where it is the starter, or a group's one.
  std::vector<std::string> same_as;

  const Entry* counting() const { return counts ? &entries[*counts] : nullptr; }
  std::optional<double> points() const;  // 0 where nothing was handed in
};

struct StudentRow {
  Owner owner;
  std::vector<Cell> cells;              // one a column
  std::optional<double> total_percent;  // nothing while a cell is not graded
  std::vector<LeftOut> left_out = {};   // what came of this student and could not be graded
  std::vector<Owner> also_called = {};  // of the same number: names change
};

struct Gradebook {
  std::string title, device, counts;  // counts: "best" or "last"
  std::vector<Column> columns;
  std::vector<StudentRow> rows;  // by student
  std::vector<LeftOut> left_out;
  bool all_boxed = true;  // compilers ran in a sandbox, every time

  std::size_t graded_by(GradedBy who) const;  // how many of the grades that count
};

std::string_view state_name(Cell::State state);

// For people: "ace", "pass", "goal missed", "wrong result", "does not compile", ...
std::string verdict_words(const std::string& verdict, const std::string& grade);
std::string verdict_words(const Entry& entry);

// When it was handed in, in the zone of the column's deadline, or what the platform says instead; and how late.
std::string handed_in_words(const Entry& entry, const Column& column);
// "1 day late costs 10 % of the points"; empty where nothing is lost.
std::string penalty_words(const Entry& entry);

// What came of a student and could not be graded: files without their places, which tell names; a line each.
std::vector<std::string> left_out_words(const StudentRow& row);

// A grade by its key; nullptr where there is none. And why there is none, in words.
using FindGrade = std::function<const StoredGrade*(const Submission&)>;
using FindTrouble = std::function<std::string(const Submission&)>;
using FindGradedBy = std::function<GradedBy(const Submission&, const StoredGrade&)>;

struct GradebookInput {
  const CourseTerms& terms;
  const std::vector<Chapter>& chapters;  // as the terms name them, in their order
  std::string device;
  const std::vector<Owner>& students;
  const std::vector<Submission>& submissions;  // by student, chapter and time
  FindGrade grade;
  FindTrouble trouble;
  FindGradedBy graded_by;  // empty: these_terms
  std::vector<LeftOut> left_out = {};
};
Gradebook make_gradebook(const GradebookInput& input);

// "roofwalk.gradebook/1".
Json to_json(const Gradebook& book);

// 7.25 -> "7.25", 10 -> "10": at most two decimals.
std::string points_text(double points);

}  // namespace roofwalk
