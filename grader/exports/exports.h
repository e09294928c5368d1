// The gradebook in other programs' formats: pure functions from the gradebook to text. Each file's head tells the rules
// of its format; tests hold what is written to them.
#pragma once

#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/base/result.h"
#include "grader/batch/gradebook.h"

namespace roofwalk {

// A table for spreadsheets: a row a student, points, verdict and lateness a chapter, the total (RFC 4180). A cell that
// a spreadsheet would take for a formula begins with an apostrophe.
std::string to_csv(const Gradebook& book);

// JUnit's XML: a suite a chapter, a case a student. Passed: pass; failed: any other verdict; error: not graded;
// skipped: nothing submitted. Points and the dot are properties of the case.
std::string to_junit(const Gradebook& book);

// Gradescope's results.json for one student.
Json to_gradescope(const Gradebook& book, const StudentRow& row);

// Fills one column of the gradebook that Canvas exported, and changes no other cell. `column`: its head, with or
// without the number that Canvas puts behind it; `chapter`: whose points go in, "" for the total in percent of Points
// Possible. A student is found by Canvas' ID, else by login, SIS id or name. Whoever has no grade keeps the old cell.
struct CanvasResult {
  std::string csv;
  std::size_t filled = 0;
  std::vector<std::string> notes;  // whom it could not place, a line each
};
Result<CanvasResult> fill_canvas(const Gradebook& book, const std::string& exported, const std::string& column,
                                 const std::string& chapter);

}  // namespace roofwalk
