#include "grader/class/exports/csv.h"

#include <algorithm>
#include <array>

namespace roofwalk {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The separator of the table: comma or semicolon, whichever is more frequent in the first line, outside quotes.
char separator_of(std::string_view text) {
  std::ptrdiff_t commas = 0, semicolons = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted) break;
    commas += !quoted && c == ',' ? 1 : 0;
    semicolons += !quoted && c == ';' ? 1 : 0;
  }
  return semicolons > commas ? ';' : ',';
}

// Whether a spreadsheet would take the text for a formula, judged by its first character. East Asian spreadsheets also
// accept the full-width forms of these characters.
bool begins_formula(std::string_view text) {
  constexpr std::array<std::string_view, 8> kSigns = {
      "=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
  return std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) { return text.starts_with(sign); });
}

std::string without_formula(const std::string& cell) {
  constexpr std::string_view kEnds = ",;\t\r\n\"";  // characters that end a cell, whichever separator is in use
  std::string text;
  bool begins = true;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (begins &&
        (begins_formula(std::string_view(cell).substr(i)) || (i == 0 && (cell[i] == '\t' || cell[i] == '\r'))))
      text += '\'';
    text += cell[i];
    begins = kEnds.find(cell[i]) != std::string_view::npos || (begins && cell[i] == ' ');
  }
  return text;
}

}  // namespace

Result<CsvTable> read_csv(const std::string& text) {
  CsvTable table;
  std::string_view rest = text;
  table.has_byte_order_mark = rest.starts_with(kByteOrderMark);
  if (table.has_byte_order_mark) rest.remove_prefix(kByteOrderMark.size());
  table.separator = separator_of(rest);
  CsvRow row;
  std::string cell;
  bool quoted = false, any = false;
  int line = 1, opened_at = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    line += c == '\n' ? 1 : 0;
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
        cell += '"';
        ++i;
      } else {
        quoted = false;
      }
      continue;
    }
    any = true;
    if (c == '"' && cell.empty()) {
      quoted = true;
      opened_at = line;
    } else if (c == table.separator) {
      row.push_back(std::exchange(cell, {}));
    } else if (c == '\n') {
      row.push_back(std::exchange(cell, {}));
      table.rows.push_back(std::exchange(row, {}));
      any = false;
    } else if (c != '\r') {
      cell += c;
    }
  }
  if (quoted) return Error{.message = "a quote is opened and never closed", .file = "", .line = opened_at};
  if (any) {
    row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string write_csv(const CsvTable& table) {
  std::string text(table.has_byte_order_mark ? kByteOrderMark : "");
  for (const CsvRow& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& cell = row[i];
      if (i > 0) text += table.separator;
      const bool needs_quotes =
          cell.find_first_of("\"\r\n,;") != std::string::npos || cell.starts_with(' ') || cell.ends_with(' ');
      if (!needs_quotes) {
        text += cell;
        continue;
      }
      text += '"';
      for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += "\r\n";
  }
  return text;
}

std::string write_harmless_csv(CsvTable table) {
  for (CsvRow& row : table.rows) {
    for (std::string& cell : row) cell = without_formula(cell);
  }
  return write_csv(table);
}

}  // namespace roofwalk
