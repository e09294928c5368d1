// Everyday operations on the device at hand: measured, checked against their references, and set beside the textbooks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plot/plot.h"
#include "grader/operations/kernels/operation.h"
#include "grader/rig/bench.h"

namespace roofwalk {

// What one run told. Bytes at each level, whole sectors.
struct OperationRun {
  double elapsed_ns = 0, executed_flops = 0;
  double dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0, l1_bytes = 0;
  double result_bytes = 0;  // compulsory bytes that are written
  double worst_error = 0;   // largest |value - reference|
  // What each part of the machine would need alone, where time is modelled; else 0.
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, launch_ns = 0;
  bool is_scattered = false;  // accesses ask for sectors of which they use a part
};

struct OperationResult {
  const Operation* operation = nullptr;
  Work work;
  OperationRun run;
  double dram_ai = 0, l2_ai = 0, l1_ai = 0;  // useful FLOPs over bytes
  double flops_per_s = 0;                    // useful
  double ridge = 0;                          // FLOP/B, at DRAM
  double share_of_roof = 0;                  // of the lower of both roofs at its AI
  std::string bound;                         // "memory", "compute"; "latency" where it is below half of both
  std::vector<std::string> remarks;          // why it differs from the textbook, or stays below its roof

  Point point() const { return {dram_ai, flops_per_s}; }
};

// Runs the operations side by side, or takes what was kept from an earlier run of the same machine, toolkit, program
// and kernels, unless the caller asks for `fresh` ones. Errors: an operation whose result is wrong or impossible, no
// toolkit, the device's own trouble.
Result<std::vector<OperationResult>> measured_operations(const Bench& bench,
                                                         const std::vector<const Operation*>& wanted,
                                                         bool fresh = false);

// One operation at a size: a fault, a wrong result or an impossible dot is an Error that says why.
Result<OperationRun> run_operation(const Bench& bench, const Operation& operation, const Size& size,
                                   const RoofRates& rates);

// The arithmetic around a run. `rates` are the measured roofs.
OperationResult result_of(const Operation& operation, const OperationRun& run, const Machine& machine,
                          const RoofRates& rates);

// All dots under the roofs of DRAM and of each kind of arithmetic.
Chart operations_chart(const Bench& bench, const std::vector<OperationResult>& results, const RoofRates& rates);

Json to_json(const OperationResult& result);

}  // namespace roofwalk
