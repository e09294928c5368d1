#include "grader/operations/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/hash.h"
#include "common/base/json.h"
#include "common/measure/roofs.h"
#include "common/record/run_record.h"
#include "common/roofline/causes.h"
#include "common/roofline/si.h"
#include "grader/attempt/inspect.h"
#include "grader/attempt/pipeline.h"
#include "grader/rig/json_file.h"
#include "grader/rig/roofs.h"
#include "grader/rig/workers.h"
#include "grader/text/text.h"

namespace roofwalk {
namespace {

namespace fs = std::filesystem;

constexpr double kDiffers = 0.05;    // an intensity that differs by more than this share is explained
constexpr double kWellPlaced = 0.8;  // of the roof; a lower result is explained
constexpr double kManyMore = 2;      // executed FLOPs above this multiple of the useful ones are explained
constexpr double kLow = 0.5;         // of the roof; below this, neither memory nor arithmetic is the bound

constexpr std::pair<const char*, double OperationRun::*> kFigures[] = {
    {"elapsed_ns", &OperationRun::elapsed_ns},
    {"executed_flops", &OperationRun::executed_flops},
    {"dram_read_bytes", &OperationRun::dram_read_bytes},
    {"dram_write_bytes", &OperationRun::dram_write_bytes},
    {"l2_bytes", &OperationRun::l2_bytes},
    {"l1_bytes", &OperationRun::l1_bytes},
    {"result_bytes", &OperationRun::result_bytes},
    {"worst_error", &OperationRun::worst_error},
    {"dram_ns", &OperationRun::dram_ns},
    {"l2_ns", &OperationRun::l2_ns},
    {"l1_ns", &OperationRun::l1_ns},
    {"shared_ns", &OperationRun::shared_ns},
    {"issue_ns", &OperationRun::issue_ns},
    {"flops_ns", &OperationRun::flops_ns},
    {"launch_ns", &OperationRun::launch_ns},
};

fs::path kept_file(const Rig& rig, const Operation& operation) {
  const std::string key = sha256_hex(identity(rig) + folder_hash(rig.course->operation_kernels()));
  return rig.course->kept_operations() /
         fmt::format("{}-{}-{}.json", rig.machine.file_name(), operation.name, key.substr(0, 32));
}

Json to_json(const OperationRun& run) {
  Json json = Json::object();
  for (const auto& [name, figure] : kFigures) json[name] = run.*figure;
  json["is_scattered"] = run.is_scattered;
  return json;
}

std::optional<OperationRun> run_from_json(const Json& json) {
  OperationRun run;
  for (const auto& [name, figure] : kFigures) {
    const auto value = json.number_of(name);
    if (!value) return std::nullopt;
    run.*figure = *value;
  }
  run.is_scattered = json.value("is_scattered", false);
  return run;
}

// The roofs of DRAM and of the operation's own arithmetic.
Roofs roofs_over(const Operation& operation, const Machine& machine, const RoofRates& rates) {
  Roofs roofs = roofs_of(machine, rates);
  roofs.compute = {compute_roof_of(machine, rates, operation.compute_roof)};
  return roofs;
}

double result_bytes_of(const Problem& problem) {
  double bytes = 0;
  for (const Parameter& parameter : problem.parameters) {
    if (const auto* output = std::get_if<OutputBuffer>(&parameter)) {
      bytes += static_cast<double>(output->count) * element_bytes(output->element);
    }
  }
  return bytes;
}

Error wrong(const Operation& operation, const Size& size, const std::string& what) {
  return {.message = fmt::format("{} at {}: {}", operation.name, size.text(), what)};
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Says why DRAM moved more or fewer bytes than the problem needs.
std::string traffic_remark(const OperationResult& result, const Machine& machine) {
  const OperationRun& run = result.run;
  const double compulsory = static_cast<double>(result.work.compulsory_bytes);
  const double moved = run.dram_read_bytes + run.dram_write_bytes;
  if (moved < compulsory) {
    return fmt::format("DRAM moved {} of the {} that the problem names: a part was not needed, or is still in a cache.",
                       si_text(moved, "B"), si_text(compulsory, "B"));
  }
  const double read_twice = run.dram_read_bytes - (compulsory - run.result_bytes);
  const double written_twice = run.dram_write_bytes - run.result_bytes;
  std::string text =
      fmt::format("DRAM moved {}, {} as much as it must:", si_text(moved, "B"), factor(moved / compulsory));
  if (read_twice > kDiffers * compulsory) {
    text += run.is_scattered
                ? fmt::format(" it read {} of sectors that are used in part", si_text(read_twice, "B"))
                : fmt::format(" {} were read again after the L2 of {} had let them go", si_text(read_twice, "B"),
                              si_text(static_cast<double>(machine.l2_bytes), "B"));
  }
  if (written_twice > kDiffers * compulsory) {
    text += fmt::format("{} {} besides the result were written", text.back() == ':' ? "" : ", and",
                        si_text(written_twice, "B"));
  }
  return text + ".";
}

// Says which parts of the machine take much of the time, slowest first.
std::string time_remark(const OperationResult& result) {
  constexpr double kWorthNaming = 0.25, kLongLaunch = 0.02;  // of the time
  const OperationRun& run = result.run;
  std::vector<std::pair<double, std::string>> parts = {{run.dram_ns, "DRAM"},
                                                       {run.l2_ns, "L2"},
                                                       {run.l1_ns, "L1"},
                                                       {run.shared_ns, "shared memory"},
                                                       {run.issue_ns, "the schedulers"},
                                                       {run.flops_ns, "the arithmetic"}};
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string needs;
  for (const auto& [part_ns, name] : parts) {
    if (part_ns < kWorthNaming * run.elapsed_ns) continue;
    needs += fmt::format("{}{} {}", needs.empty() ? "" : ", ", name, time_text(part_ns));
  }
  const bool names_launch = run.launch_ns > kLongLaunch * run.elapsed_ns;
  return fmt::format("At {} of its roof, in {}{}: {}.", percent(result.share_of_roof), time_text(run.elapsed_ns),
                     names_launch ? fmt::format(", {} of them the launch", time_text(run.launch_ns)) : "",
                     needs.empty() ? "no part of the chip is busy for long"
                                   : fmt::format("alone it would take {}, and they do not overlap in full", needs));
}

std::vector<std::string> remarks_on(const OperationResult& result, const Machine& machine) {
  const Operation& operation = *result.operation;
  const double algorithmic = result.work.ai();
  std::vector<std::string> remarks;
  if (std::fabs(result.dram_ai / operation.textbook_ai - 1) > kDiffers) {
    if (const double share = 1 - algorithmic / operation.textbook_ai; share > kDiffers) {
      remarks.push_back(fmt::format("The rule, {}, leaves out {}: {} of the bytes that this size must move.",
                                    operation.rule, operation.left_out, percent(share)));
    }
    if (std::fabs(result.dram_ai / algorithmic - 1) > kDiffers) remarks.push_back(traffic_remark(result, machine));
  }
  if (result.l1_ai < (1 - kDiffers) * result.dram_ai) {
    const bool l1_helps = result.l1_ai < (1 - kDiffers) * result.l2_ai;
    const bool l2_helps = result.l2_ai < (1 - kDiffers) * result.dram_ai;
    remarks.push_back(fmt::format(
        "Its threads ask for {} as many bytes as DRAM moves (AI {} at L1, {} at L2): what is read again comes from {}.",
        factor(result.dram_ai / result.l1_ai), number_text(result.l1_ai), number_text(result.l2_ai),
        l1_helps && l2_helps ? "L1 and L2"
        : l1_helps           ? "L1"
                             : "L2"));
  }
  if (result.run.executed_flops > kManyMore * static_cast<double>(result.work.useful_flops)) {
    remarks.push_back(fmt::format("It executes {} the useful FLOPs, which does not move the dot.",
                                  factor(result.run.executed_flops / static_cast<double>(result.work.useful_flops))));
  }
  if (result.share_of_roof < kWellPlaced && result.run.launch_ns > 0) remarks.push_back(time_remark(result));
  return remarks;
}

Result<OperationRun> kept_or_measured(const Rig& rig, const Operation& operation, const RoofRates& rates, bool fresh) {
  const fs::path file = kept_file(rig, operation);
  if (!fresh) {
    if (const auto run = run_from_json(read_json_file(file))) return *run;
  }
  ROOFWALK_TRY(OperationRun run, run_operation(rig, operation, operation.size, rates));
  write_json_file(to_json(run), file);
  return run;
}

}  // namespace

Result<OperationRun> run_operation(const Rig& rig, const Operation& operation, const Size& size,
                                   const RoofRates& rates) {
  const fs::path folder = rig.course->operation_kernels();
  ROOFWALK_TRY(const Artifact artifact, build_for(rig, folder / operation.kernel, folder));
  const Problem problem = operation.exercise->problem(size, kPublicSeed);
  const Work work = operation.exercise->work(size);
  std::vector<Expected> expected;
  ROOFWALK_TRY(const Trial trial,
               run_trial(
                   rig.open, artifact, problem, operation.name, measured_trial(work, 1), [&]() -> auto& {
                     expected = operation.exercise->reference(size, problem);
                     return expected;
                   }));
  if (trial.refusal) return *trial.refusal;
  if (trial.record.fault) return wrong(operation, size, trial.record.fault->message);
  if (!trial.correctness->correct) return wrong(operation, size, trial.correctness->reason);
  const Roofs roofs = roofs_over(operation, rig.machine, rates);
  const Measurement m = measure(trial.record, work, roofs);
  const auto dram_bytes = m.level("dram").bytes;
  if (!m.elapsed_ns.known() || !dram_bytes.known() || !m.l2_bytes.known() || !m.l1_bytes.known()) {
    return wrong(operation, size, "this device counts no bytes or no time");
  }
  if (const auto reasons = implausible(m, roofs); !reasons.empty()) return wrong(operation, size, reasons.front());
  OperationRun run;
  run.elapsed_ns = m.elapsed_ns.value;
  run.executed_flops = m.executed_flops.value;
  run.dram_read_bytes = m.dram_read_bytes.value;
  run.dram_write_bytes = m.dram_write_bytes.value;
  run.l2_bytes = m.l2_bytes.value;
  run.l1_bytes = m.l1_bytes.value;
  run.result_bytes = result_bytes_of(problem);
  run.worst_error = trial.correctness->worst_error;
  for (const KernelRecord& kernel : trial.record.kernels) {
    run.dram_ns += kernel.parts.dram_ns;
    run.l2_ns += kernel.parts.l2_ns;
    run.l1_ns += kernel.parts.l1_ns;
    run.shared_ns += kernel.parts.shared_ns;
    run.issue_ns += kernel.parts.issue_ns;
    run.flops_ns += kernel.parts.flops_ns;
    run.launch_ns += kernel.parts.launch_ns;
  }
  const Finding finding = inspect(trial.record, m, rig.machine, roofs, artifact.source_text);
  run.is_scattered = std::any_of(finding.diagnoses.begin(), finding.diagnoses.end(),
                                 [](const Diagnosis& diagnosis) { return diagnosis.cause == cause::over_fetch.id; });
  return run;
}

OperationResult result_of(const Operation& operation, const OperationRun& run, const Machine& machine,
                          const RoofRates& rates) {
  OperationResult result;
  result.operation = &operation;
  result.work = operation.exercise->work(operation.size);
  result.run = run;
  const auto flops = static_cast<double>(result.work.useful_flops);
  const Roofs roofs = roofs_over(operation, machine, rates);
  const double bandwidth = roofs.memory_roof("dram")->bytes_per_s, peak = roofs.compute.front().flops_per_s;
  result.dram_ai = flops / (run.dram_read_bytes + run.dram_write_bytes);
  result.l2_ai = flops / run.l2_bytes;
  result.l1_ai = flops / run.l1_bytes;
  result.flops_per_s = flops / (run.elapsed_ns * 1e-9);
  result.ridge = ridge_flops_per_byte(bandwidth, peak);
  result.share_of_roof = 1 / vertical_gap(result.point(), bandwidth, peak);
  result.bound = result.share_of_roof < kLow ? "latency" : result.dram_ai < result.ridge ? "memory" : "compute";
  result.remarks = remarks_on(result, machine);
  return result;
}

Result<std::vector<OperationResult>> measured_operations(const Rig& rig, const std::vector<const Operation*>& wanted,
                                                         bool fresh) {
  ROOFWALK_TRY(const RoofRates rates, measured_roofs(rig));
  // A real device runs one operation at a time. The last operations take longest, so they start first.
  const int threads = rig.device_kind == "virtual" ? rig.threads : 1;
  std::vector<std::optional<Result<OperationRun>>> runs(wanted.size());
  parallel_for(wanted.size(), threads, [&](std::size_t i) {
    const std::size_t which = wanted.size() - 1 - i;
    runs[which] = kept_or_measured(rig, *wanted[which], rates, fresh);
  });
  std::vector<OperationResult> results;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ROOFWALK_TRY(const OperationRun run, *std::move(runs[i]));
    results.push_back(result_of(*wanted[i], run, rig.machine, rates));
  }
  return results;
}

Chart operations_chart(const Rig& rig, const std::vector<OperationResult>& results, const RoofRates& rates) {
  Chart chart;
  chart.title = fmt::format("everyday operations on {}", rig.device_title());
  chart.level = "dram";
  chart.roofs = roofs_of(rig.machine, rates);
  chart.roofs.compute.insert(chart.roofs.compute.begin(), compute_roof_of(rig.machine, rates, Roof::mma));
  chart.time_is_modelled = rig.device_kind == "virtual";
  chart.is_walk = false;
  for (const OperationResult& result : results) {
    chart.walk.push_back({result.operation->name, result.point(), chart.time_is_modelled, false});
  }
  return chart;
}

Json to_json(const OperationResult& result) {
  const Operation& operation = *result.operation;
  Json size = Json::object();
  for (const auto& [name, value] : operation.size.values()) size[name] = value;
  return {{"name", operation.name},
          {"type", operation.type},
          {"size", std::move(size)},
          {"useful_flops", result.work.useful_flops},
          {"executed_flops", result.run.executed_flops},
          {"compulsory_bytes", result.work.compulsory_bytes},
          {"dram_read_bytes", result.run.dram_read_bytes},
          {"dram_write_bytes", result.run.dram_write_bytes},
          {"l2_bytes", result.run.l2_bytes},
          {"l1_bytes", result.run.l1_bytes},
          {"textbook_ai", operation.textbook_ai},
          {"algorithmic_ai", result.work.ai()},
          {"observed_ai", {{"dram", result.dram_ai}, {"l2", result.l2_ai}, {"l1", result.l1_ai}}},
          {"ridge", result.ridge},
          {"bound", result.bound},
          {"share_of_roof", result.share_of_roof},
          {"achieved_flops_per_s", result.flops_per_s},
          {"elapsed_ns", result.run.elapsed_ns},
          {"worst_error", result.run.worst_error},
          {"remarks", result.remarks}};
}

}  // namespace roofwalk
