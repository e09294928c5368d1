// Rows of source, each preceded by columns of figures, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "grader/profile/figure_columns.h"
#include "grader/text/text.h"

namespace roofwalk {

struct SheetRow {
  std::string sign = " ";  // in a comparison: "-" removed, "+" new
  int number = 0;          // 0: not a line of the file
  std::string source;
  std::string note;
  bool is_diagnosed = false;
  std::vector<FigureCell> cells;
  bool does_nothing = false;  // no instruction comes from it
  bool is_past = false;       // from the earlier file, so it needs no attention

  bool is_hot() const { return !note.empty(); }
};

struct SheetTitles {
  std::vector<std::string> columns;
  std::vector<std::string> groups = {};  // headings above groups of columns; empty: none
};

// Lays out rows of source, preceded by figures, within a given width.
class Sheet {
 public:
  static constexpr std::size_t kMark = 2;          // columns before the figures
  static constexpr std::size_t kFewestDigits = 3;  // room for a line number
  static constexpr std::size_t kLeastSource = 40;  // columns of source for which optional figures must leave room

  Sheet(SheetTitles titles, const std::vector<SheetRow>& rows, std::size_t columns, bool has_signs,
        const Colors& colors);

  std::vector<std::string> head() const;
  std::vector<std::string> lines(const SheetRow& row) const;

  // The line that is shown in place of left-out rows.
  std::string gap() const;

 private:
  std::string marked(const SheetRow& row, const std::string& text) const;
  std::string signed_text(const SheetRow& row, const std::string& text) const;
  std::string painted(const SheetRow& row, const std::string& text) const;

  SheetTitles titles_;
  const Colors& colors_;
  std::size_t sign_, digits_ = kFewestDigits, gutter_ = 0, source_ = 0;
  std::vector<std::size_t> widths_;
};

// The rows, without long runs of lines that have no instructions, such as comments. Of such a run, the row next to a
// shown line remains on each side. A new part begins wherever rows are left out.
std::vector<std::vector<const SheetRow*>> folded_rows(const std::vector<SheetRow>& rows);

// The heading and the rows, with a gap between parts.
std::string sheet_text(const Sheet& sheet, const std::vector<SheetRow>& rows);

}  // namespace roofwalk
