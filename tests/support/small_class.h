// A gradebook of a few students that covers all cases of exporters and pages: an ace, a late pass, a wrong kernel with
// hostile text, one not graded, a student who handed in nothing, odd names.
#pragma once

#include <string>

#include "grader/class/batch/gradebook.h"

namespace roofwalk::test {

inline Entry entry_of(const std::string& verdict, const std::string& grade, std::optional<double> credit,
                      double points) {
  Entry entry;
  entry.label = "class/someone/vector-add.cu";
  entry.source_sha256 = "sha-" + verdict + grade;
  entry.key = "key-" + verdict + grade;
  entry.submitted_at_s = 1'700'000'000;
  entry.verdict = verdict;
  entry.grade = grade;
  entry.credit = credit;
  if (credit) entry.points = points;
  if (verdict == "pass" || verdict == "fail") entry.dot = Point{0.0833, 1e10 * credit.value_or(0) + 1e9};
  return entry;
}

inline Cell cell_of(Entry entry) {
  Cell cell;
  cell.state = entry.points ? Cell::State::graded : Cell::State::not_graded;
  cell.entries = {std::move(entry)};
  cell.counts = 0;
  return cell;
}

inline Gradebook small_class() {
  Gradebook book;
  book.title = "Parallel <programming> & \"more\"";
  book.device = "virtual:classroom";
  book.counts = "best";
  book.all_boxed = false;
  book.columns = {{"vector-add", "Fill the machine", 10, 10, 0.7, 1'790'891'940, "dram"},
                  {"tiled-gemm", "Fetch once, use often", 20, 20, 0.7, std::nullopt, "l1"}};
  Entry late = entry_of("pass", "pass", 0.9, 8.1);
  late.late_days = 1;
  late.late_factor = 0.9;
  late.scales = {{"up", "dram", "share_of_roof", 0.03, 0.7, 0.92, 0.85}};
  Entry wrong = entry_of("incorrect", "none", 0, 0);
  wrong.reasons = {"vector-add.cu:7: c[0] is NaN, <b>\"&\x01\x1b[32mPASS", "and ]]> more"};
  Entry fault = entry_of("", "", std::nullopt, 0);
  fault.reasons = {"a fault of the grader: a person has to look"};
  fault.trouble = "the worker died";
  book.rows = {
      {{"=cmd()", "", {}}, {cell_of(wrong), Cell{}}, 0.0},
      {{"Ada Lovelace (17)", "17", {}},
       {cell_of(entry_of("pass", "ace", 1, 10)), cell_of(entry_of("fail", "none", 0.35, 7))},
       56.67},
      {{"O'Hara, \"Scarlett\"", "", {}}, {cell_of(late), cell_of(fault)}, std::nullopt},
      {{"<script>alert(1)</script>", "", {}}, {Cell{}, Cell{}}, 0.0},
      {{"\xe6\x9d\x8e\xe5\xb0\x8f\xe9\xbe\x99", "", {}}, {cell_of(entry_of("pass", "pass", 0.7, 7)), Cell{}}, 23.33}};
  return book;
}

// The same class before any deadline.
inline Gradebook small_class_before_it_is_due() {
  Gradebook book = small_class();
  for (Column& column : book.columns) column.is_due = false;
  for (StudentRow& row : book.rows) {
    row.total_percent.reset();
    for (Cell& cell : row.cells) {
      if (cell.entries.empty()) cell.state = Cell::State::not_due;
    }
  }
  return book;
}

}  // namespace roofwalk::test
