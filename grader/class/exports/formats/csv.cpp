// A table for spreadsheets (RFC 4180): one row per student with points, verdict and lateness of each chapter, and the
// total. An apostrophe precedes cells that a spreadsheet would run as a formula.
#include <fmt/format.h>

#include <utility>

#include "grader/class/exports/csv.h"
#include "grader/class/exports/exporter.h"
#include "grader/class/hand_ins/lms_names.h"

namespace roofwalk {
namespace {

std::string to_csv(const Gradebook& book) {
  CsvTable table;
  CsvRow head{"student", "lms_id"};
  for (const Column& column : book.columns) {
    for (const char* what : {"points", "verdict", "late_days"})
      head.push_back(fmt::format("{} {}", column.chapter, what));
  }
  head.emplace_back("total_percent");
  table.rows.push_back(std::move(head));
  for (const StudentRow& row : book.rows) {
    const std::string number = number_of(row.owner.lms_id);  // a student may have typed it
    CsvRow cells{row.owner.student, number.empty() ? "" : plain_name(number)};
    for (const Cell& cell : row.cells) {
      const Entry* entry = cell.counting();
      const auto points = cell.points();
      cells.push_back(points ? points_text(*points) : "");
      cells.push_back(entry == nullptr         ? std::string(state_name(cell.state))
                      : entry->verdict.empty() ? std::string(state_name(cell.state))
                      : entry->grade == "ace"  ? "ace"
                                               : entry->verdict);
      cells.push_back(entry != nullptr ? std::to_string(entry->late_days) : "0");
    }
    cells.push_back(row.total_percent ? points_text(*row.total_percent) : "");
    table.rows.push_back(std::move(cells));
  }
  return write_harmless_csv(std::move(table));
}

}  // namespace

extern const Exporter csv_exporter{"csv", "gradebook.csv", to_csv};

}  // namespace roofwalk
