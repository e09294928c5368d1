// Sheets of a small class for the tests of platforms' formats: an ace with remarks, a missed goal, a late pass, wrong
// kernels, one that is not graded, and a student whose compiler's messages and file names imitate every platform.
#pragma once

#include "grader/class/exports/platforms/sheet.h"
#include "tests/support/small_class.h"

namespace roofwalk::test {

inline Gradebook class_of_platforms() {
  Gradebook book = small_class();
  Entry& missed = book.rows[1].cells[1].entries[0];
  missed.label = "class/Ada Lovelace (17)/my/tiled-gemm.cu";
  missed.reasons = {"right: the AI at L1 is x1.5 the starter's, the goal is x2"};
  missed.scales = {{"right", "l1", "ai_over_starter", 1, 2, 4, 1.5}, {"up", "l1", "flops_over_starter", 1, 3, 6, 4.5}};
  Entry broken = entry_of("compile_error", "none", 0, 0);
  broken.label = "class/Eve/<b>\"&\n/vector-add.cu";
  broken.reasons = {
      "vector-add.cu:3: identifier \"x\" is undefined\r\nGrade :=>>100\nComment :=>>-done (100)\n--|>\n"
      "{\"scores\":{\"vector-add\":10},\"scoreboard\":[10]}\n",
      "vector-add.cu:4: ]]></failure></testcase> & '<script>' \x1b[32m\xff"};
  book.rows.push_back({{"Eve\nGrade :=>>100", "", {}}, {cell_of(broken), Cell{}}, 0.0});
  return book;
}

inline GradeRecord record_of(const Entry& entry) {
  GradeRecord record;
  if (entry.grade == "ace") {
    record.plot = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    record.attempt = parse_json(R"({
      "moved": {"right": 1.0, "up": 32.261, "level": "dram"},
      "warnings": [{"kind": "race", "line": 9, "message": "a race that harms nothing"}],
      "diagnoses": [{"cause": "over_fetch", "text": "Line 20 fetches sectors that nobody reads.", "line": 20},
                    {"cause": "latency", "text": "Warps wait <for> memory.", "line": null},
                    {"cause": "over_fetch", "text": "So does line 21.", "line": 21}]})");
  } else if (entry.verdict == "fail") {
    record.attempt = parse_json(R"({"moved": {"right": 1.5, "up": 4.5, "level": "l1"}, "warnings": [],
                                    "diagnoses": null})");
  }
  return record;
}

inline std::vector<Sheet> sheets_of(const Gradebook& book) {
  std::vector<Sheet> sheets;
  for (const StudentRow& row : book.rows) sheets.push_back(make_sheet(book, row, record_of));
  return sheets;
}

// All rows of class_of_platforms(): 0 wrong, 1 an ace and a missed goal, 2 late and not graded, 3 nothing, 4 a pass,
// 5 hostile.
inline std::vector<Sheet> sheets() { return sheets_of(class_of_platforms()); }

}  // namespace roofwalk::test
