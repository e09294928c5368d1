#include "grader/profile/sheet.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofwalk {
namespace {

constexpr std::size_t kLongestGap = 3;  // the longest run of lines without instructions, between other lines, that is
                                        // still shown

std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, shown_columns(text)), ' ') + text;
}

std::size_t indentation(std::string_view source) { return std::min(source.find_first_not_of(' '), source.size()); }

// Breaks code at `width`; continuation lines get additional indentation.
std::vector<std::string> broken(const std::string& source, std::size_t width) {
  constexpr std::size_t kFurtherIn = 4;
  std::vector<std::string> pieces;
  std::string rest = source;
  while (shown_columns(rest) > width) {
    const std::string piece = cut_to(rest, width);
    const std::size_t indent = indentation(rest);
    const std::size_t space = piece.find_last_of(' ');
    const std::size_t end = space == std::string::npos || space <= indent ? piece.size() : space;
    pieces.push_back(rest.substr(0, end));
    const std::size_t next = std::min(rest.find_first_not_of(' ', end), rest.size());
    rest = std::string(std::min(indentation(source) + kFurtherIn, width / 2), ' ') + rest.substr(next);
  }
  pieces.push_back(rest);
  return pieces;
}

}  // namespace

Sheet::Sheet(SheetTitles titles, const std::vector<SheetRow>& rows, std::size_t columns, bool has_signs,
             const Colors& colors)
    : titles_(std::move(titles)), colors_(colors), sign_(has_signs ? 2 : 0) {
  for (std::size_t c = 0; c < titles_.columns.size(); ++c) {
    std::size_t width = titles_.columns[c].size();
    for (const SheetRow& row : rows) width = std::max(width, shown_columns(row.cells[c].text));
    widths_.push_back(width);
  }
  for (const SheetRow& row : rows) digits_ = std::max(digits_, fmt::format("{}", row.number).size());
  std::size_t before = kMark + digits_ + 2 + sign_;
  for (const std::size_t width : widths_) before += width + 1;
  gutter_ = before;
  source_ = columns > before + kLeastSource / 2 ? columns - before : kLeastSource / 2;
}

std::vector<std::string> Sheet::head() const {
  std::vector<std::string> lines;
  for (const auto* titles : {&titles_.groups, &titles_.columns}) {
    if (titles->empty()) continue;
    std::string line(kMark, ' ');
    for (std::size_t c = 0; c < titles->size(); ++c) line += padded_left((*titles)[c], widths_[c]) + ' ';
    lines.push_back(colors_.faint(line));
  }
  return lines;
}

std::vector<std::string> Sheet::lines(const SheetRow& row) const {
  std::string gutter = !row.is_hot() || row.is_past ? "  " : marked(row, row.is_diagnosed ? "! " : "> ");
  for (std::size_t c = 0; c < widths_.size(); ++c) {
    const std::string cell = padded_left(row.cells[c].text, widths_[c]) + ' ';
    gutter += row.cells[c].is_bad ? colors_.bad(cell) : cell;
  }
  gutter += colors_.faint(padded_left(row.number > 0 ? fmt::format("{}", row.number) : "", digits_)) + "  ";
  if (sign_ > 0) gutter += signed_text(row, row.sign + " ");
  std::vector<std::string> lines;
  const bool is_long = shown_columns(row.source) > source_;
  const auto pieces = !is_long       ? std::vector<std::string>{row.source}
                      : row.is_hot() ? broken(row.source, source_)
                                     : std::vector<std::string>{cut_to(row.source, source_ - 3) + "..."};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    lines.push_back((i == 0 ? gutter : std::string(gutter_, ' ')) + painted(row, pieces[i]));
  }
  if (!row.note.empty()) {
    const std::size_t indent = std::min(indentation(row.source), source_ / 3);
    bool is_first = true;
    for (const std::string& piece : wrapped(printable(row.note), source_ - indent - 2)) {
      lines.push_back(std::string(gutter_ + indent, ' ') + marked(row, (is_first ? "^ " : "  ") + piece));
      is_first = false;
    }
  }
  return lines;
}

std::string Sheet::gap() const { return std::string(gutter_ - sign_ - 2, ' ') + colors_.faint("..."); }

std::string Sheet::marked(const SheetRow& row, const std::string& text) const {
  return row.is_past ? colors_.faint(text) : row.is_diagnosed ? colors_.bad(text) : colors_.strong(text);
}

std::string Sheet::signed_text(const SheetRow& row, const std::string& text) const {
  return row.sign == "+" ? colors_.good(text) : row.sign == "-" ? colors_.bad(text) : text;
}

std::string Sheet::painted(const SheetRow& row, const std::string& text) const {
  return row.is_hot() && !row.is_past ? colors_.strong(text)
         : row.does_nothing           ? colors_.faint(text)
                                      : signed_text(row, text);
}

std::vector<std::vector<const SheetRow*>> folded_rows(const std::vector<SheetRow>& rows) {
  std::vector<std::vector<const SheetRow*>> parts(1);
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i;
    while (end < rows.size() && rows[end].does_nothing) ++end;
    const bool is_end = i == 0 || end == rows.size();
    const bool is_long = end - i > (is_end ? 1 : kLongestGap);
    for (std::size_t k = i; k < end; ++k) {
      const bool is_side = (k == i && i > 0) || (k + 1 == end && end < rows.size());
      if (!is_long || is_side) parts.back().push_back(&rows[k]);
      if (is_long && k == i && (i == 0 || end - i > 2)) parts.emplace_back();
    }
    if (end < rows.size()) parts.back().push_back(&rows[end++]);
    i = end;
  }
  return parts;
}

std::string sheet_text(const Sheet& sheet, const std::vector<SheetRow>& rows) {
  std::string text;
  for (const std::string& line : sheet.head()) text += line + "\n";
  const auto parts = folded_rows(rows);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (p > 0) text += sheet.gap() + "\n";
    for (const SheetRow* row : parts[p]) {
      for (const std::string& line : sheet.lines(*row)) text += line + "\n";
    }
  }
  return text;
}

}  // namespace roofwalk
