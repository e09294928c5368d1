// Comma-separated tables as in RFC 4180, read and written without loss.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

using CsvRow = std::vector<std::string>;

struct CsvTable {
  std::vector<CsvRow> rows;
  char separator = ',';  // or ';', which spreadsheets write in some countries
  bool has_byte_order_mark = false;
};

// Errors: a quote that is not closed, with its line.
Result<CsvTable> read_csv(const std::string& text);

// Quotes the cells that need quotes and ends lines with CR LF. Changes nothing else, not even formulas, because it is
// for other people's tables, which are returned to them.
std::string write_csv(const CsvTable& table);

// For tables that this program makes. Puts an apostrophe before text that a spreadsheet would run as a formula: at the
// beginning of a cell, and after each character that another spreadsheet may take for the end of a cell.
std::string write_harmless_csv(CsvTable table);

}  // namespace roofwalk
