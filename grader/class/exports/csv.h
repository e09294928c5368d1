// Comma-separated tables as in RFC 4180: read and written without loss.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace roofwalk {

using CsvRow = std::vector<std::string>;

struct CsvTable {
  std::vector<CsvRow> rows;
  char separator = ',';  // or ';', as spreadsheets of some countries write
  bool has_byte_order_mark = false;
};

// Errors: a quote that is never closed, with its line.
Result<CsvTable> read_csv(const std::string& text);

// Quotes cells that need it and ends lines with CR LF; changes nothing else: for tables that are read and given back.
std::string write_csv(const CsvTable& table);

// For tables of our own. Puts an apostrophe before what a spreadsheet would run: a cell, or what would be a cell with
// another separator.
std::string write_harmless_csv(CsvTable table);

}  // namespace roofwalk
