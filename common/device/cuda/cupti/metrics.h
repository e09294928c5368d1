// Maps CUPTI's metric names, which differ by chip, to Counters. Contains only tables and arithmetic, no CUPTI calls.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/counters.h"

namespace roofwalk {

// The values of one counted range, by metric name. NaN: not available.
struct RangeValues {
  std::string name;
  std::map<std::string, double> metrics;
};

// The figures that metrics.def defines. Some of them are also Counters; units are in the names.
enum class MetricSum {
#define CHIP(name, family)
#define QUANTITY(name, ...) name,
#define TENSOR(type, ...)
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

// Types of factors and sums of tensor operations (mma.sync, wmma), without integers, whose operations are not FLOPs.
enum class TensorType {
#define CHIP(name, family)
#define QUANTITY(name, ...)
#define TENSOR(type, ...) type,
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

// Number of replays for one set of metrics, on every chip and for every type.
inline constexpr int kCounterPasses = 2;

std::span<const std::string_view> counted_chips();
std::span<const MetricSum> quantities();
std::span<const TensorType> tensor_types();
std::string_view quantity_name(MetricSum quantity);  // "gpu_time_ns"
std::string_view tensor_type_name(TensorType type);  // "f16_f32"

// Returns the metrics to request, each once; empty for an unknown chip. `tensor`: the one type that the module uses on
// tensor cores; nullopt if it uses none or several, or one that this chip cannot count. Without a type, tensor
// instructions are counted instead of FLOPs.
std::vector<std::string> metrics_of(std::string_view chip, std::optional<TensorType> tensor = std::nullopt);

// Returns the quantity's value; nullopt if the chip cannot count it, or if one of its metrics is missing, NaN or
// negative.
std::optional<double> value_of(MetricSum quantity, std::string_view chip, const RangeValues& values);

// Returns all Counters that follow from the values; the others are absent. flops_tensor counts the requested type; it
// is 0 if no tensor core was used, and absent if one was used but no type was requested.
Counters counters_of(std::string_view chip, const RangeValues& values);

// Returns the Counters that a run on this chip can have; empty for an unknown chip.
std::vector<Counter> counters_known(std::string_view chip);

}  // namespace roofwalk
