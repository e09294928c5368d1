#include "common/measure/roof_rates.h"

#include <algorithm>

#include "common/base/json.h"

namespace roofwalk {
namespace {

struct RoofWords {
  std::string_view title, unit;
  std::string_view key, inner = {};  // in JSON; with `inner`, a member of the object `key`
};

// In the order of the enumeration.
constexpr std::array<RoofWords, kRoofs.size()> kWords = {{{"DRAM, read", "B/s", "dram_bytes_per_s", "read"},
                                                          {"DRAM, write", "B/s", "dram_bytes_per_s", "write"},
                                                          {"DRAM, copy", "B/s", "dram_bytes_per_s", "copy"},
                                                          {"DRAM, triad", "B/s", "dram_bytes_per_s", "triad"},
                                                          {"L2", "B/s", "l2_bytes_per_s"},
                                                          {"L1", "B/s", "l1_bytes_per_s"},
                                                          {"shared memory", "B/s", "shared_bytes_per_s"},
                                                          {"FP32", "FLOP/s", "fp32_flops_per_s"},
                                                          {"half, in pairs", "FLOP/s", "half2_flops_per_s"},
                                                          {"tensor, mma.sync", "FLOP/s", "mma_flops_per_s"}}};

const RoofWords& words(Roof roof) { return kWords[static_cast<std::size_t>(roof)]; }

}  // namespace

std::string_view roof_title(Roof roof) { return words(roof).title; }
std::string_view roof_unit(Roof roof) { return words(roof).unit; }

std::optional<double> RoofRates::dram_bytes_per_s() const {
  const auto& r = *this;  // nullopt compares less than any rate
  return std::max({r[Roof::dram_read], r[Roof::dram_write], r[Roof::dram_copy], r[Roof::dram_triad]});
}

RoofRates data_sheet_rates(const Machine& machine) {
  RoofRates rates;
  for (const Roof stream : {Roof::dram_read, Roof::dram_write, Roof::dram_copy, Roof::dram_triad}) {
    rates.set(stream, machine.dram_bytes_per_s);
  }
  rates.set(Roof::l2, machine.l2_bytes_per_s());
  rates.set(Roof::l1, machine.l1_bytes_per_s());
  rates.set(Roof::shared, machine.shared_bytes_per_s());
  rates.set(Roof::fp32, machine.peak_fp32_flops_per_s());
  rates.set(Roof::half2, machine.peak_half_flops_per_s());
  rates.set(Roof::mma, machine.peak_tensor_flops_per_s());
  return rates;
}

Json to_json(const RoofRates& rates) {
  Json json = Json::object();
  for (const Roof roof : kRoofs) {
    const auto rate = rates[roof];
    const auto& [title, unit, key, inner] = words(roof);
    (inner.empty() ? json[key] : json[key][inner]) = rate ? Json(*rate) : Json(nullptr);
  }
  return json;
}

std::optional<RoofRates> roof_rates_from_json(const Json& json) {
  RoofRates rates;
  for (const Roof roof : kRoofs) {
    const auto& [title, unit, key, inner] = words(roof);
    const Json* rate = json.member(key);
    if (rate != nullptr && !inner.empty()) rate = rate->member(inner);
    if (rate == nullptr) return std::nullopt;
    if (rate->is_null()) continue;
    if (!rate->is_number() || !(rate->get<double>() > 0)) return std::nullopt;
    rates.set(roof, rate->get<double>());
  }
  return rates;
}

}  // namespace roofwalk
