// What a session on a real GPU left behind: one JSON file a card, checked before it is believed, and the virtual GPU's
// error against it.
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
//   ruler          rows as ruler.h has them
//   roofs          the JSON of `roofs`
//   attempts       the JSON of `run` of each chapter's starter and steps, with the raw samples of the pairs
//   ncu            [{name, metric, ours, ncu}]; null where there is no ncu

// The record as it may be shown to anybody. UUIDs, which attempts and the doctor hold too, are taken out; of other
// people's processes stays how many there were.
Json without_private(Json record);

// What keeps a record from being believed, a line each; empty for a good one.
std::vector<std::string> flaws_of(const Json& record);

// A figure of the virtual GPU against the card's.
struct ErrorRow {
  std::string chapter, kernel, figure;  // "vector-add", "step1_fill_the_machine.cu", "DRAM bytes"
  double card = 0, modelled = 0;
  double error() const { return modelled / card - 1; }
};

// `modelled` is the attempt of the same kernel on the virtual GPU. Figures that either lacks are left out.
std::vector<ErrorRow> errors_of(const Json& attempt, const Json& modelled);

// A table for people: every row, then the median and the largest error of each figure.
std::string table_of(const std::vector<ErrorRow>& rows);

}  // namespace roofwalk::test
