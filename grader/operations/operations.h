// Everyday operations on the current device: measured, checked against references, and compared with textbooks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/plot/plot.h"
#include "grader/operations/kernels/operation.h"
#include "grader/rig/rig.h"

namespace roofwalk {

// The figures of one run. Bytes at each level count whole sectors.
struct OperationRun {
  double elapsed_ns = 0, executed_flops = 0;
  double dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0, l1_bytes = 0;
  double result_bytes = 0;  // the part of the compulsory bytes that is written
  double worst_error = 0;   // largest |value - reference|
  // The time that each part of the machine would need alone, if time is modelled; otherwise 0.
  double dram_ns = 0, l2_ns = 0, l1_ns = 0, shared_ns = 0, issue_ns = 0, flops_ns = 0, launch_ns = 0;
  bool is_scattered = false;  // whether accesses request sectors that they use only in part
};

struct OperationResult {
  const Operation* operation = nullptr;
  Work work;
  OperationRun run;
  double dram_ai = 0, l2_ai = 0, l1_ai = 0;  // useful FLOPs over bytes
  double flops_per_s = 0;                    // useful
  double ridge = 0;                          // FLOP/B, at DRAM
  double share_of_roof = 0;                  // of the lower of the two roofs at its AI
  std::string bound;                         // "memory", "compute", or "latency" below half of its roof
  std::vector<std::string> remarks;          // reasons why it differs from the textbook or stays below its roof

  Point point() const { return {dram_ai, flops_per_s}; }
};

// Measures the operations in parallel, or takes the results of an earlier run with the same machine, toolkit, program
// and kernels, unless `fresh`. Errors: an operation whose result is wrong or impossible; no toolkit; trouble with the
// device.
Result<std::vector<OperationResult>> measured_operations(const Rig& rig, const std::vector<const Operation*>& wanted,
                                                         bool fresh = false);

// Runs one operation at one size. A fault, a wrong result or an impossible dot is an Error with the reason.
Result<OperationRun> run_operation(const Rig& rig, const Operation& operation, const Size& size,
                                   const RoofRates& rates);

// Computes a result from a run. `rates` are the measured roofs.
OperationResult result_of(const Operation& operation, const OperationRun& run, const Machine& machine,
                          const RoofRates& rates);

// A chart of the dots of all operations, under the roofs of DRAM and of each kind of arithmetic.
Chart operations_chart(const Rig& rig, const std::vector<OperationResult>& results, const RoofRates& rates);

Json to_json(const OperationResult& result);

}  // namespace roofwalk
