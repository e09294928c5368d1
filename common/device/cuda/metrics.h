// From the names of CUPTI's metrics, which differ by chip, to our Counters. Pure tables and arithmetic: no CUPTI here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/run_record.h"

namespace roofwalk {

// What one range of launches counted: values by the names of metrics. NaN: not available.
struct RangeValues {
  std::string name;
  std::map<std::string, double> metrics;
};

// Figures that a GPU's counters give, some of them Counters; units are in the names. metrics.def says of what.
enum class MetricSum {
#define CHIP(name, family)
#define QUANTITY(name, ...) name,
#define TENSOR(type, ...)
#include "common/device/cuda/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

// Factors and sums of tensor operations (mma.sync, wmma). Integers are no FLOPs.
enum class TensorType {
#define CHIP(name, family)
#define QUANTITY(name, ...)
#define TENSOR(type, ...) type,
#include "common/device/cuda/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

// Replays that one set of metrics takes, on every chip and for every type.
inline constexpr int kCounterPasses = 2;

std::span<const std::string_view> counted_chips();
std::span<const MetricSum> quantities();
std::span<const TensorType> tensor_types();
std::string_view quantity_name(MetricSum quantity);  // "gpu_time_ns"
std::string_view tensor_type_name(TensorType type);  // "f16_f32"

// The metrics to ask for, each once; empty for a chip that no row knows. `tensor`: the one type that the module
// multiplies on tensor cores. Where it has none, several, or one that this chip lacks: nothing, and tensor instructions
// are counted in place of FLOPs.
std::vector<std::string> metrics_of(std::string_view chip, std::optional<TensorType> tensor = std::nullopt);

// Nothing where the chip does not count it, or where a metric of it is missing, NaN or negative.
std::optional<double> value_of(MetricSum quantity, std::string_view chip, const RangeValues& values);

// Every Counter that the values tell; the others are absent. flops_tensor: of the type that was asked for; 0 where no
// tensor core did anything; absent where one did, and the type was not asked for.
Counters counters_of(std::string_view chip, const RangeValues& values);

// The Counters that a run on this chip may have, by Counter; empty for a chip that no row knows.
std::vector<Counter> counters_known(std::string_view chip);

}  // namespace roofwalk
