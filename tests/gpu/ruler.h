// Small kernels whose counts follow by hand: what a card's counters are held against, and the virtual GPU's too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/json.h"
#include "tests/support/kernel_runner.h"

namespace roofwalk::test {

struct RulerRow {
  std::string name;               // "strides of 4: L1 sectors a request"
  std::string unit;               // "sectors", "wavefronts", "FLOP", "B", "ns"
  std::optional<double> value;    // nothing where the device does not count it
  std::optional<double> by_hand;  // nothing of times
  double tolerance = 0;           // a share of by_hand that the value may be off
  bool is_right() const;          // true, too, where one of the two is absent
};

Json to_json(const std::vector<RulerRow>& rows);
std::vector<RulerRow> ruler_rows_of(const Json& json);

// The kernel that reads one array and writes another, both several times the L2, once: for other profilers to look at.
Result<RunRecord> run_copy_stream(Runner& runner);

// Errors: a kernel that does not compile or run.
Result<std::vector<RulerRow>> measure_ruler(Runner& runner);

}  // namespace roofwalk::test
