// The record of a session on a real GPU: one JSON file per GPU. flaws_of() checks it; errors_of() compares it with the
// virtual GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/json.h"

namespace roofwalk::test {

// "roofwalk.gpu_record/1":
//   gpu            name, uuid_sha256 (of the UUID, which stays private), compute_capability, machine (of common/specs)
//   driver_version, toolkit, version, made_at (UTC)
//   doctor         its JSON
//   checks         {name: "passed" | "failed: ..." | "skipped: ..."}
//   ruler          rows in the format of ruler.h
//   roofs          the JSON of `roofs`
//   attempts       the JSON of `run` of each chapter's starter and steps, with the raw samples of the pairs
//   ncu            [{name, metric, ours, ncu}]; missing if ncu could not run

// Returns the record without private data: removes every UUID, also those in `attempts` and `doctor`, and replaces each
// list of other users' processes by their number.
Json without_private(Json record);

// Reasons not to trust a record, one per line; empty for a good record.
std::vector<std::string> flaws_of(const Json& record);

// A figure of the virtual GPU compared with the card's.
struct ErrorRow {
  std::string chapter, kernel, figure;  // "vector-add", "step1_fill_the_machine.cu", "DRAM bytes"
  double card = 0, modelled = 0;
  double error() const { return modelled / card - 1; }
};

// Compares an attempt on a card with `modelled`, the same kernel's attempt on the virtual GPU. Figures missing from
// either attempt are left out.
std::vector<ErrorRow> errors_of(const Json& attempt, const Json& modelled);

// A row of the table below.
std::string line_of(const ErrorRow& row);

// Returns a readable table: all rows, then the median and the largest error of each figure.
std::string table_of(const std::vector<ErrorRow>& rows);

}  // namespace roofwalk::test
