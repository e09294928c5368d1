#include "common/measure/roofs.h"

#include <algorithm>

namespace roofwalk {
namespace {

constexpr auto kDataSheet = "data sheet", kMeasured = "measured";

// Returns the data sheet's rate; nullopt if it is 0, which means that the GPU has no machine file.
std::optional<double> promise(double data_sheet) {
  return data_sheet > 0 ? std::optional<double>(data_sheet) : std::nullopt;
}

MemoryRoof memory_roof(const char* level, double data_sheet, std::optional<double> measured) {
  if (!measured) return {level, data_sheet, kDataSheet, std::nullopt};
  return {level, *measured, kMeasured, promise(data_sheet)};
}

ComputeRoof compute_roof(const char* name, double data_sheet, std::optional<double> measured) {
  if (!measured) return {name, data_sheet, kDataSheet, std::nullopt};
  return {name, *measured, kMeasured, promise(data_sheet)};
}

}  // namespace

ComputeRoof compute_roof_of(const Machine& machine, const RoofRates& measured, Roof roof) {
  ROOFWALK_CHECK(roof == Roof::fp32 || roof == Roof::half2 || roof == Roof::mma);
  const char* name = roof == Roof::fp32 ? "fp32" : roof == Roof::half2 ? "half" : "tensor";
  return compute_roof(name, *data_sheet_rates(machine)[roof], measured[roof]);
}

Roofs roofs_of(const Machine& machine) { return roofs_of(machine, RoofRates{}); }

Roofs roofs_of(const Machine& machine, const RoofRates& measured) {
  Roofs roofs;
  roofs.memory = {memory_roof("dram", machine.dram_bytes_per_s, measured.dram_bytes_per_s()),
                  memory_roof("l2", machine.l2_bytes_per_s(), measured[Roof::l2]),
                  memory_roof("l1", machine.l1_bytes_per_s(), measured[Roof::l1]),
                  memory_roof("shared", machine.shared_bytes_per_s(), measured[Roof::shared])};
  std::erase_if(roofs.memory, [](const MemoryRoof& roof) { return roof.bytes_per_s <= 0; });
  // Sorted by the data sheet, so that L1 and shared memory keep their order even if their measured rates are
  // reversed.
  const auto promised = [](const MemoryRoof& roof) { return roof.data_sheet_bytes_per_s.value_or(roof.bytes_per_s); };
  std::stable_sort(roofs.memory.begin(), roofs.memory.end(),
                   [&](const MemoryRoof& a, const MemoryRoof& b) { return promised(a) < promised(b); });
  roofs.compute = {compute_roof_of(machine, measured, Roof::fp32)};
  std::erase_if(roofs.compute, [](const ComputeRoof& roof) { return roof.flops_per_s <= 0; });
  return roofs;
}

}  // namespace roofwalk
