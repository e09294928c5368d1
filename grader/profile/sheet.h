// Rows of source with columns of figures before them, as a terminal shows them.
#pragma once

#include <string>
#include <vector>

#include "grader/profile/figure_columns.h"
#include "grader/text/text.h"

namespace roofwalk {

struct SheetRow {
  std::string sign = " ";  // of a comparison: "-" gone, "+" new
  int number = 0;          // 0: no line of the file
  std::string source;
  std::string note;
  bool is_diagnosed = false;
  std::vector<FigureCell> cells;
  bool does_nothing = false;  // no instruction comes from it
  bool is_past = false;       // of the file before: nothing to look at any more

  bool is_hot() const { return !note.empty(); }
};

struct SheetTitles {
  std::vector<std::string> columns;
  std::vector<std::string> groups = {};  // above columns; empty: none
};

// Rows of source with figures before them, all as wide as they are told.
class Sheet {
 public:
  static constexpr std::size_t kMark = 2;          // columns before the figures
  static constexpr std::size_t kFewestDigits = 3;  // that a line's number has room for
  static constexpr std::size_t kLeastSource = 40;  // columns of source that further figures may not take

  Sheet(SheetTitles titles, const std::vector<SheetRow>& rows, std::size_t columns, bool has_signs,
        const Colors& colors);

  std::vector<std::string> head() const;
  std::vector<std::string> lines(const SheetRow& row) const;

  // Where lines were left out.
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

// Rows without their long runs of lines that do nothing: comments, the file's head. One on each side of a run stays;
// an empty vector stands where others were.
std::vector<std::vector<const SheetRow*>> folded_rows(const std::vector<SheetRow>& rows);

// Head, rows and gaps.
std::string sheet_text(const Sheet& sheet, const std::vector<SheetRow>& rows);

}  // namespace roofwalk
