// Formats that need more than the gradebook: a student, or the file that an LMS exported. Pure functions to text.
// Formats that need the gradebook alone are in formats/ (exporter.h).
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
// login or SIS id, else by name. The old cell stays if the student has no grade, or if somebody else wrote it.
struct CanvasWanted {
  std::string column;                               // its head, with or without the number that Canvas appends
  std::string chapter = {};                         // its points go in; empty: the total, in percent of Points Possible
  std::map<std::string, std::string> written = {};  // what we wrote into it before, by Canvas' ID
  bool replaces = false;                            // replaces what somebody else wrote, too
};
struct CanvasResult {
  std::string csv;
  std::size_t filled = 0, kept = 0;            // kept: written by somebody else
  std::map<std::string, std::string> written;  // by this call, by Canvas' ID
  std::vector<std::string> notes;              // students it could not place, and cells it kept, one line each
};

// The whole head of the wanted column. Errors: there is none, or there are several.
Result<std::string> canvas_head(const std::string& exported, const std::string& column);
Result<CanvasResult> fill_canvas(const Gradebook& book, const std::string& exported, const CanvasWanted& wanted);

}  // namespace roofwalk
