// Formats that need more than the gradebook: a student, or the file that an LMS exported. Pure functions to text. Those
// that need the gradebook alone are in formats/ (exporter.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/base/result.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// Gradescope's results.json for one student.
Json to_gradescope(const Gradebook& book, const StudentRow& row);

// Fills one column of the gradebook that Canvas exported, and changes no other cell. A student is found by Canvas' ID,
// login or SIS id, else by name. Whoever has no grade keeps the old cell; so does a cell that holds what somebody else
// wrote there.
struct CanvasWanted {
  std::string column;        // its head, with or without the number that Canvas puts behind it
  std::string chapter = {};  // whose points go in; empty: the total, in percent of Points Possible
  std::map<std::string, std::string> written = {};  // what we wrote into it before, by Canvas' ID
  bool replaces = false;                            // what somebody else wrote, too
};
struct CanvasResult {
  std::string csv;
  std::size_t filled = 0, kept = 0;            // kept: what somebody else wrote
  std::map<std::string, std::string> written;  // now, by Canvas' ID
  std::vector<std::string> notes;              // whom it could not place, and what it kept, a line each
};

// The whole head of the column that is meant. Errors: there is none, or there are several.
Result<std::string> canvas_head(const std::string& exported, const std::string& column);
Result<CanvasResult> fill_canvas(const Gradebook& book, const std::string& exported, const CanvasWanted& wanted);

}  // namespace roofwalk
