// The results of a class: a pure function of the submissions, the grades and the course's terms. Every table, export
// and page is made from it. It does not contain the time of grading, so the same submissions give the same gradebook.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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
  std::string level;            // the memory level whose AI is on the axis of the chapter's chart
  int deadline_offset_min = 0;  // see ChapterTerms
  std::string starter_sha256 = {};
  bool is_due = true;              // what is not due yet shows points, but counts in nobody's total
  WorkUnit unit = WorkUnit::flop;  // of the chapter's useful work
  bool has_reference = false;      // goals over the starter are over a reference kernel
};

// Whether this program made a grade under the present terms and, if not, what differs.
enum class GradedBy { these_terms, another_grader, other_terms };

// One submission, graded or not.
struct Entry {
  std::string label, source_sha256, key;
  std::int64_t submitted_at_s = 0;
  std::int64_t submitted_again_at_s = 0;  // when the same bytes were handed in last
  LateMark mark = LateMark::none;         // set if the platform gives only lateness, not a time
  int late_days = 0;                      // number of days that have begun since the deadline
  double late_factor = 1;                 // the share of the points that remains after the late penalty
  std::string verdict;                    // see roofwalk.attempt/1; empty if there is no grade yet
  std::string grade;                      // none, pass, ace
  std::vector<std::string> reasons;       // reasons for the verdict, or for not having one
  std::string trouble = {};               // the fault of the grader, for the instructor alone: it may tell hidden cases
  std::vector<GoalScale> scales;          // scales of its goals, if it was measured
  std::optional<double> credit;           // 0 to 1, without lateness; nullopt if unknown
  std::optional<double> points;           // including lateness
  std::optional<Point> dot;               // at the column's level
  bool boxed = false;
  bool is_starter = false;  // the file is the unchanged starter
  GradedBy graded_by = GradedBy::these_terms;
  std::optional<std::int64_t> model_version = std::nullopt;  // of the virtual GPU; nullopt: nothing was modelled
};

inline constexpr std::size_t kMostSameNamed = 5;

struct Cell {
  // not_graded: an instructor must look; has no points, not even 0. nothing: nothing was handed in. not_due: nor was
  // it, but there is time left; has no points.
  enum class State { graded, not_graded, nothing, not_due };
  State state = State::nothing;
  std::vector<Entry> entries;         // all submissions, in the order of hand-in
  std::optional<std::size_t> counts;  // index of the entry that gives the points
  // Other students whose counting file has the same bytes, without the members of the same group: the names of the
  // first kMostSameNamed, and how many there are in all. Empty if the file is the starter.
  std::vector<std::string> same_as;
  std::size_t same_as_count = 0;

  const Entry* counting() const { return counts ? &entries[*counts] : nullptr; }
  std::optional<double> points() const;  // 0 if nothing was handed in by the deadline
};

struct StudentRow {
  Owner owner;
  std::vector<Cell> cells;              // one per column
  std::optional<double> total_percent;  // of what is due; nullopt if nothing is, or if some cell of it is not graded
  std::vector<LeftOut> left_out = {};   // the student's files that could not be graded
  std::vector<Owner> also_called = {};  // other names with the same number, because names change
};

// What only a person can tell about a row: whether it is the same person's as another.
struct RowDoubt {
  std::string student, reason;
};

struct Gradebook {
  std::string title, device, counts;  // counts: "best" or "last"
  std::vector<Column> columns;
  std::vector<StudentRow> rows;  // by student
  std::vector<LeftOut> left_out;
  std::vector<RowDoubt> doubts = {};
  bool all_boxed = true;  // whether compilers always ran in a sandbox

  std::size_t graded_by(GradedBy who) const;  // the number of counting grades with this GradedBy
  bool has_due() const;                       // whether some column that has a weight is due
  bool all_due() const;                       // whether every column is due
};

std::string_view state_name(Cell::State state);

// The row's total: "56.67 %", "?" if something of it is not graded, "not due" if nothing counts yet.
std::string total_text(const Gradebook& book, const StudentRow& row);

// The verdict for people: "ace", "pass", "goal missed", "wrong result", "does not compile", ...
std::string verdict_words(const std::string& verdict, const std::string& grade);
std::string verdict_words(const Entry& entry);

// The time of hand-in, in the time zone of the column's deadline, and how late that was; or the platform's mark if
// there is no time.
std::string handed_in_words(const Entry& entry, const Column& column);
// "1 day late costs 10 % of the points"; empty if there is no penalty.
std::string penalty_words(const Entry& entry);

// The student's files that could not be graded, one line each. The lines do not name the folders, because folders'
// names may contain students' names.
std::vector<std::string> left_out_words(const StudentRow& row);

// FindGrade returns the grade of a submission, or nullptr if it has none. FindTrouble returns the fault of the grader
// that is why it has none; empty if it was not graded yet.
using FindGrade = std::function<const StoredGrade*(const Submission&)>;
using FindTrouble = std::function<std::string(const Submission&)>;
using FindGradedBy = std::function<GradedBy(const Submission&, const StoredGrade&)>;

struct GradebookInput {
  const CourseTerms& terms;
  const std::vector<Chapter>& chapters;  // those of the terms, in their order
  std::string device;
  const std::vector<Owner>& students;
  const std::vector<Submission>& submissions;  // by student, chapter and time
  FindGrade grade;
  FindTrouble trouble;
  FindGradedBy graded_by;  // empty: these_terms
  std::vector<LeftOut> left_out = {};
  std::int64_t now_s = std::numeric_limits<std::int64_t>::max();  // seconds since 1970; default: every chapter is due
};
Gradebook make_gradebook(const GradebookInput& input);

// Format "roofwalk.gradebook/1".
Json to_json(const Gradebook& book);

// 7.25 -> "7.25", 10 -> "10": at most two decimals.
std::string points_text(double points);

}  // namespace roofwalk
