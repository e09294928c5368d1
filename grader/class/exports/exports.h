// Formats that need a file that an LMS exported. Pure functions: their callers read and write the files. Formats that
// need only the gradebook are in formats/ (exporter.h), those of one student in platforms/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "grader/class/batch/gradebook.h"

namespace roofwalk {

// The input of fill_canvas(), which fills one column of a gradebook that Canvas exported and changes no other cell.
// fill_canvas() finds a student by Canvas' ID, login or SIS id, else by name. It leaves a cell unchanged if the student
// has no grade, or if someone else wrote the cell and `replaces` is not set.
struct CanvasWanted {
  std::string column;  // its heading, with or without the number that Canvas appends
  // The chapter whose points are filled in; empty: the total, scaled to Points Possible.
  std::string chapter = {};
  std::map<std::string, std::string> written = {};  // the cells that this program wrote before, by Canvas' ID
  bool replaces = false;                            // whether cells that others wrote are also replaced
};
struct CanvasResult {
  std::string csv;
  std::size_t filled = 0, kept = 0;            // kept: number of cells that others wrote
  std::map<std::string, std::string> written;  // cells written by this call, by Canvas' ID
  // One line for each student who could not be assigned or has no grade yet, and for each cell that was kept.
  std::vector<std::string> notes;
};

// The complete heading of the wanted column. Errors: there is none, or there are several.
Result<std::string> canvas_head(const std::string& exported, const std::string& column);
Result<CanvasResult> fill_canvas(const Gradebook& book, const std::string& exported, const CanvasWanted& wanted);

}  // namespace roofwalk
