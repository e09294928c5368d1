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

// Cells that need it are quoted; lines end with CR LF.
std::string write_csv(const CsvTable& table);

}  // namespace roofwalk
