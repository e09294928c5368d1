// What a program's kernels did, as a table, as JSON and as a chart.
#pragma once

#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/cudart/kernel_records.h"
#include "common/plot/plot.h"
#include "common/specs/machine.h"

namespace roofwalk {

struct ProgramRun {
  std::string command;  // "./app 1024"
  Machine machine;
  int exit_code = 0;
  std::vector<cudart::KernelTotals> kernels;  // longest first
  std::vector<cudart::Told> told;
};

// What a part of the machine at least needs for all launches of a kernel: the largest of TimeParts, by its name in
// charts ("DRAM", "L2", "FLOPs", "launch"), and its share of the modelled time.
struct Bound {
  std::string name;
  double share = 0;
};
Bound bound_of(const cudart::KernelTotals& totals);

std::string program_table(const ProgramRun& run);
Json to_json(const ProgramRun& run);
Chart program_chart(const ProgramRun& run);  // a dot a kernel, at DRAM

}  // namespace roofwalk
