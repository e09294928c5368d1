// Tables with commas, as RFC 4180 has them: read and written without loss.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

using CsvRow = std::vector<std::string>;

struct CsvTable {
  std::vector<CsvRow> rows;
  char separator = ',';  // or ';', as some countries' spreadsheets write
  bool has_byte_order_mark = false;
};

// Errors: a quote that is never closed, with its line.
Result<CsvTable> read_csv(const std::string& text);

// Cells that need it are quoted; lines end with CR LF. Nothing is changed: for a table that is read, and given back.
std::string write_csv(const CsvTable& table);

// For a table of our own. What a spreadsheet would run begins with an apostrophe, and so does what would be a cell of
// its own, and be run, where another separator is used.
std::string write_harmless_csv(CsvTable table);

}  // namespace roofwalk
