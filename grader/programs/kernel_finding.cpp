#include "grader/programs/kernel_finding.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "common/base/json.h"
#include "common/measure/measurement.h"
#include "grader/attempt/inspect.h"
#include "grader/programs/kernel_figures.h"

namespace roofwalk {
namespace {

double sum_of(const Counters& counters, std::initializer_list<Counter> parts) {
  double sum = 0;
  for (const Counter part : parts) sum += static_cast<double>(counters[part].value_or(0));
  return sum;
}

// As few bytes as the kernel's accesses would take of DRAM if the lanes of each were contiguous, but no more than they
// do take: what caches keep is not fetched twice.
double needed_bytes(const Counters& counters) {
  const double dram_bytes = sum_of(counters, {Counter::dram_read_bytes, Counter::dram_write_bytes});
  const double ideal_bytes = kSectorBytes * sum_of(counters, {Counter::l1_ideal_sectors, Counter::local_sectors});
  return dram_bytes > 0 ? std::min(dram_bytes, ideal_bytes) : ideal_bytes;
}

Work work_of(const Counters& counters, WorkUnit unit) {
  const double flops =
      sum_of(counters, {Counter::flops_f16, Counter::flops_f32, Counter::flops_f64, Counter::flops_tensor});
  const double operations = sum_of(counters, {Counter::integer_operations, Counter::tensor_integer_operations});
  Work work;
  work.compulsory_bytes = std::llround(needed_bytes(counters));
  // Of a kernel that only moves data, a byte is the work.
  work.useful_flops = unit == WorkUnit::flop ? std::llround(flops)
                      : operations > 0       ? std::llround(operations)
                                             : work.compulsory_bytes;
  return work;
}

RunRecord record_of(const KernelRecord& kernel, const Machine& machine) {
  RunRecord record;
  record.device = machine.name;
  record.time_is_modelled = record.bytes_are_modelled = true;
  record.elapsed_ns = kernel.elapsed_ns;
  record.counters = kernel.counters;
  record.kernels = {kernel};
  return record;
}

// For a kernel without a cause. That its bytes are the fewest, as chapters say of theirs, is not known here.
Diagnosis without_cause(const KernelRecord& kernel) {
  constexpr double kClose = 0.8;
  cudart::KernelTotals totals;
  totals.elapsed_ns = kernel.elapsed_ns;
  totals.parts = kernel.parts;
  const BindingRoof roof = binding_roof(totals);
  if (roof.share < kClose) return {"none", "No single cause stands out; the lines show where the time goes."};
  return {"none", fmt::format("{} takes {:.0f} % of the time: this is the kernel's roof. It becomes faster only with "
                              "less to do there.",
                              roof.name, 100 * roof.share)};
}

Result<std::string> text_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (file.empty() || !in) {
    return Error{.message = file.empty() ? "its file is not known: build the program under `./roofwalk build -- make`"
                                         : fmt::format("{} cannot be read", file)};
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

Finding finding_of(const MeasuredKernel& kernel, const Machine& machine) {
  const KernelRecord mean = mean_launch(kernel);
  const RunRecord record = record_of(mean, machine);
  const Roofs roofs = roofs_for(machine, mean.counters);
  const Measurement measurement = measure(record, work_of(mean.counters, roofs.unit), roofs);
  const auto source = text_of_file(kernel.file);
  Finding finding = inspect(record, measurement, machine, roofs, source ? *source : "");
  if (finding.diagnoses.empty()) finding.diagnosis = without_cause(mean);
  return finding;
}

Result<Profile> profile_of_kernel(const MeasuredKernel& kernel, const Machine& machine) {
  ROOFWALK_TRY(const std::string source, text_of_file(kernel.file));
  const RunRecord record = record_of(kernel.sum, machine);
  Attempt attempt;
  attempt.chapter = shown_kernel_name(kernel.sum.name, 40);
  attempt.device = "virtual:" + machine.name;
  attempt.device_kind = "virtual";
  attempt.size = Size({{"launches", static_cast<std::int64_t>(kernel.launches)}});
  attempt.file = kernel.file;
  attempt.time_is_modelled = attempt.bytes_are_modelled = true;
  attempt.roofs = roofs_for(machine, kernel.sum.counters);
  attempt.measurement = measure(record, work_of(kernel.sum.counters, attempt.roofs.unit), attempt.roofs);
  attempt.finding = finding_of(kernel, machine);
  attempt.kernels = record.kernels;
  return profile_of(std::move(attempt), source);
}

Json lines_json(const Profile& profile) {
  const Json whole = to_json(profile);
  Json json;
  json["kernel"] = profile.attempt.kernels.front().name;
  for (const char* key : {"file", "says", "lines", "elsewhere", "total"}) json[key] = whole.at(key);
  return json;
}

}  // namespace roofwalk
