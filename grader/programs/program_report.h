// What a program's kernels did, as JSON, as CSV and as a chart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/json_fwd.h"
#include "common/cudart/kernel_records.h"
#include "common/plot/plot.h"
#include "common/specs/machine.h"
#include "grader/programs/kernel_finding.h"

namespace roofwalk {

struct ProgramKernel {
  cudart::KernelTotals totals;
  std::optional<Finding> finding;  // nullopt for memsets and copies
};

struct ProgramRun {
  std::string command;  // "./app 1024"
  Machine machine;
  int exit_code = 0;
  std::vector<ProgramKernel> kernels;  // longest first
  std::vector<cudart::Told> told;
  std::uint64_t launches = 0, measured_launches = 0;  // of kernels; fewer are measured if only some were chosen
};

double elapsed_ns_of(const ProgramRun& run);

// Puts together what was counted and what was measured line by line. `only_kernels`: without memsets and copies.
std::vector<ProgramKernel> program_kernels(const std::vector<cudart::KernelTotals>& totals,
                                           const std::vector<MeasuredKernel>& measured, const Machine& machine,
                                           bool only_kernels);

// "roofwalk.program/1", whose keys are stable: {command, exit_code, device, model_version, elapsed_ns, launches,
// measured_launches, kernels, faults, notes}. Of a kernel: its names, counts and figures; ai_by_level is null without
// FLOPs; diagnosis: {cause, line, brief, text, share of its time}, null for memsets and copies. --lines adds
// `profile` (kernel_finding.h).
Json to_json(const ProgramRun& run);

// A row for each kernel of to_json(run). The columns are the figures' names (figures.h), so a program reads either.
std::string to_csv(const Json& run);

// A dot a kernel, at DRAM; its area is the kernel's share of the time.
Chart program_chart(const ProgramRun& run);

}  // namespace roofwalk
