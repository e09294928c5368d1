#include "grader/programs/kernel_figures.h"

#include <algorithm>
#include <array>

#include "common/measure/measurement.h"
#include "common/measure/roofs.h"

namespace roofwalk {
namespace {

using cudart::KernelTotals;

constexpr auto kDataSheetSource = "data sheet";

struct FlopsOfType {
  const char* roof;
  Counter counter;
  double (*peak)(const Machine&);
};

// FP32 first: it is the roof of charts.
constexpr std::array kTypesOfFlops = {
    FlopsOfType{"fp32", Counter::flops_f32, [](const Machine& machine) { return machine.peak_fp32_flops_per_s(); }},
    FlopsOfType{"half", Counter::flops_f16, [](const Machine& machine) { return machine.peak_half_flops_per_s(); }},
    FlopsOfType{
        "fp64", Counter::flops_f64,
        [](const Machine& machine) { return 2.0 * machine.sms * machine.fp64_lanes_per_sm * machine.clock_hz; }},
    FlopsOfType{"tensor", Counter::flops_tensor,
                [](const Machine& machine) { return machine.peak_tensor_flops_per_s(); }}};

double counted(const Counters& counters, Counter counter) { return static_cast<double>(counters[counter].value_or(0)); }

}  // namespace

double count_of(const KernelTotals& totals, Counter counter) { return counted(totals.counters, counter); }

double flops_of(const KernelTotals& totals) {
  double flops = 0;
  for (const FlopsOfType& type : kTypesOfFlops) flops += count_of(totals, type.counter);
  return flops;
}

double dram_bytes_of(const KernelTotals& totals) {
  return count_of(totals, Counter::dram_read_bytes) + count_of(totals, Counter::dram_write_bytes);
}

double l2_bytes_of(const KernelTotals& totals) {
  return kSectorBytes * (count_of(totals, Counter::l2_read_sectors) + count_of(totals, Counter::l2_write_sectors));
}

double l1_bytes_of(const KernelTotals& totals) {
  return kSectorBytes * (count_of(totals, Counter::l1_read_sectors) + count_of(totals, Counter::l1_write_sectors));
}

BindingRoof binding_roof(const KernelTotals& totals) {
  const TimeParts& parts = totals.parts;
  const std::array<std::pair<const char*, double>, 9> named = {{{"DRAM", parts.dram_ns},
                                                                {"L2", parts.l2_ns},
                                                                {"L1", parts.l1_ns},
                                                                {"shared", parts.shared_ns},
                                                                {"issue", parts.issue_ns},
                                                                {"FLOPs", parts.flops_ns},
                                                                {"constant", parts.constant_ns},
                                                                {"atomics", parts.contention_ns},
                                                                {"launch", parts.launch_ns}}};
  const auto* const most =
      std::max_element(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {most->first, totals.elapsed_ns > 0 ? most->second / totals.elapsed_ns : 0};
}

Roofs roofs_for(const Machine& machine, const Counters& counters) {
  Roofs roofs = roofs_of(machine);
  double flops = 0, least_s = 0, most = 0;
  const char* name = nullptr;
  for (const FlopsOfType& type : kTypesOfFlops) {
    const double own = counted(counters, type.counter), peak = type.peak(machine);
    if (own <= 0 || peak <= 0) continue;
    flops += own;
    least_s += own / peak;
    if (own > most) name = type.roof;
    most = std::max(most, own);
  }
  roofs.compute.clear();
  if (name == nullptr) {
    roofs.is_memory_only = true;
    roofs.unit = WorkUnit::operation;
  } else {
    roofs.compute.push_back({name, flops / least_s, kDataSheetSource});
  }
  return roofs;
}

Roofs roofs_for_chart(const Machine& machine, const std::vector<KernelTotals>& kernels) {
  Roofs roofs = roofs_of(machine);
  roofs.compute.clear();
  for (const FlopsOfType& type : kTypesOfFlops) {
    const bool is_used = std::any_of(kernels.begin(), kernels.end(),
                                     [&](const KernelTotals& each) { return count_of(each, type.counter) > 0; });
    if (type.peak(machine) > 0 && (is_used || roofs.compute.empty()))
      roofs.compute.push_back({type.roof, type.peak(machine), kDataSheetSource});
  }
  return roofs;
}

}  // namespace roofwalk
