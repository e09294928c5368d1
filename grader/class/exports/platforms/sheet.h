// One student's results in the form in which platforms show them: a list of tests per chapter, remarks about lines of
// the file, and how far the dot moved. All texts are harmless and of one line (grader/text/text.h): names, compilers'
// messages and quoted lines come from students.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/roofline/roofline.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// What a platform shows as one test.
struct Check {
  enum class State { met, missed, unknown };
  std::string name;  // the same for every attempt, and unique in its chapter
  State state = State::unknown;
  std::string words = {};  // what was reached, or why it is missed; may be empty
};

// A sentence about a line of the student's file.
struct Remark {
  enum class Kind { broken, wrong, warning, hint };  // broken: nothing could be run
  Kind kind = Kind::hint;
  std::string id;    // a verdict, "warning", or the cause of a diagnosis
  std::string text;  // without file and line
  int line = 0;      // 0: unknown

  std::string placed_text() const;  // "line 7: text"
};

struct SheetPart {
  std::string chapter, title;
  std::string file;  // the student's file, relative to the hand-in: "my/vector-add.cu"; empty: none
  Cell::State state = Cell::State::nothing;
  std::string verdict;  // as in Entry; empty: none
  double most_points = 0;
  std::optional<double> points;    // nullopt if unknown, which is not 0
  std::string headline;            // "pass, 1 day late"
  std::vector<std::string> lines;  // what there is to say about it, one sentence each
  std::vector<Check> checks;       // that it compiles, runs and is right; empty if nothing was graded
  std::vector<Check> goals;        // one per goal, if the kernel was measured
  std::vector<Remark> remarks;     // the worst first
  std::optional<Movement> moved;   // relative to the starter
  std::optional<double> useful_per_s;
  std::string useful_unit;  // of useful_per_s: "FLOP/s"
  std::string plot;         // SVG; empty if there is no dot
};

struct Sheet {
  std::string student;
  bool all_boxed = true;
  std::vector<SheetPart> parts;  // one per chapter

  double points() const;  // the sum of the known points
  double most_points() const;
};

// What the gradebook does not hold of a graded entry: the attempt ("roofwalk.attempt/1") and the plot. Both are what
// the worker answered, so they tell nothing about hidden cases.
struct GradeRecord {
  Json attempt;
  std::string plot;
};
using FindRecord = std::function<GradeRecord(const Entry&)>;

// Makes the sheet of a student of the gradebook. `chapter`: only this one; empty: all.
Sheet make_sheet(const Gradebook& book, const StudentRow& row, const FindRecord& find, const std::string& chapter = {});

// "met", "missed" or "not reached".
std::string_view state_name(Check::State state);

}  // namespace roofwalk
