// Small kernels whose counts can be derived by hand, to check a card's counters and the virtual GPU's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "common/record/run_record.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

struct RulerRow {
  std::string name;               // "strides of 4: L1 sectors a request"
  std::string unit;               // "sectors", "wavefronts", "FLOP", "B", "ns"
  std::optional<double> value;    // nullopt if the device does not count it
  std::optional<double> by_hand;  // nullopt for times
  double tolerance = 0;           // allowed relative deviation from by_hand
  double slack = 0;               // allowed deviation in addition, in `unit`
  bool is_right() const;          // also true if value or by_hand is absent
};

Json to_json(const std::vector<RulerRow>& rows);
std::vector<RulerRow> ruler_rows_of(const Json& json);

// Runs the copy kernel of the ruler once, on arrays several times as large as L2, so that another profiler can measure
// it.
Result<RunRecord> run_copy_stream(Runner& runner);

// Runs all kernels of the ruler. Fails if one of them does not compile or run.
Result<std::vector<RulerRow>> measure_ruler(Runner& runner);

}  // namespace roofwalk::test
