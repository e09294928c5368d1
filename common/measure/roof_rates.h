// A rate for each roof of a machine, either measured by microkernels or taken from the data sheet.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "common/base/json_fwd.h"
#include "common/specs/machine.h"

namespace roofwalk {

// What a microkernel saturates. The four for DRAM are streams: read, write, copy (one array read, one written) and
// triad (two read, one written). mma: tensor cores by mma.sync, f16 factors and f32 sums.
enum class Roof { dram_read, dram_write, dram_copy, dram_triad, l2, l1, shared, fp32, half2, mma };

inline constexpr std::array kRoofs = {Roof::dram_read, Roof::dram_write, Roof::dram_copy, Roof::dram_triad, Roof::l2,
                                      Roof::l1,        Roof::shared,     Roof::fp32,      Roof::half2,      Roof::mma};

std::string_view roof_title(Roof roof);  // for people: "DRAM, read"
std::string_view roof_unit(Roof roof);   // "B/s" or "FLOP/s"

// Rates in roof_unit(). A rate is absent if the device cannot count it or has no such part.
class RoofRates {
 public:
  std::optional<double> operator[](Roof roof) const { return rates_[static_cast<std::size_t>(roof)]; }
  void set(Roof roof, std::optional<double> rate) { rates_[static_cast<std::size_t>(roof)] = rate; }

  // Returns the best of the four streams, in bytes/s. Which one is best depends on the chip; no kernel is faster than
  // this.
  std::optional<double> dram_bytes_per_s() const;

  bool operator==(const RoofRates&) const = default;

 private:
  std::array<std::optional<double>, kRoofs.size()> rates_{};
};

// Returns the rates of the machine file. For the tensor cores, the peak of the chip's widest instruction.
RoofRates data_sheet_rates(const Machine& machine);

// Writes {"dram_bytes_per_s": {"read": ..., "write": ..., "copy": ..., "triad": ...}, "l2_bytes_per_s": ...,
// "l1_bytes_per_s": ..., "shared_bytes_per_s": ..., "fp32_flops_per_s": ..., "half2_flops_per_s": ...,
// "mma_flops_per_s": ...}; null where a rate is absent.
Json to_json(const RoofRates& rates);

// Reads the output of to_json; nullopt if a key is missing or a rate is neither null nor a positive number.
std::optional<RoofRates> roof_rates_from_json(const Json& json);

}  // namespace roofwalk
