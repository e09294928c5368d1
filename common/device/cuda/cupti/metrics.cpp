#include "common/device/cuda/cupti/metrics.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace roofwalk {
namespace {

// Groups of chips with the same metrics, as bits, so that a row can name several.
enum Family : unsigned {
  kTu10x = 1u << 0,
  kTu11x = 1u << 1,  // GTX 16: no tensor cores
  kGa100 = 1u << 2,
  kGa10x = 1u << 3,
  kGa10b = 1u << 4,  // integrated
  kAd10x = 1u << 5,
  kGh100 = 1u << 6,
  kGb100 = 1u << 7,
  kGb110 = 1u << 8,
  kGb10b = 1u << 9,  // integrated
  kGb20x = 1u << 10,
  kGb20b = 1u << 11,  // integrated
};
constexpr unsigned kTuring = kTu10x | kTu11x;
constexpr unsigned kAmpere = kGa100 | kGa10x | kGa10b;
constexpr unsigned kPackedF32 = kGb100 | kGb110;
constexpr unsigned kBlackwell = kGb100 | kGb110 | kGb10b | kGb20x | kGb20b;
constexpr unsigned kAll = kTuring | kAmpere | kAd10x | kGh100 | kBlackwell;
constexpr unsigned kDiscrete = kAll & ~(kGa10b | kGb10b | kGb20b);

struct Chip {
  std::string_view name;
  unsigned family;
};

struct Term {
  unsigned families;
  double weight;
  const char* metric;
};

struct Row {
  std::string_view name;
  std::optional<Counter> counter;
  std::vector<Term> terms;
};

constexpr std::nullopt_t kNone = std::nullopt;

constexpr Chip kChips[] = {
#define CHIP(name, family) {name, family},
#define QUANTITY(...)
#define TENSOR(...)
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

constexpr std::string_view kChipNames[] = {
#define CHIP(name, family) name,
#define QUANTITY(...)
#define TENSOR(...)
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

constexpr MetricSum kMetricSums[] = {
#define CHIP(name, family)
#define QUANTITY(name, ...) MetricSum::name,
#define TENSOR(...)
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

constexpr TensorType kTensorTypes[] = {
#define CHIP(name, family)
#define QUANTITY(...)
#define TENSOR(type, ...) TensorType::type,
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
};

const Row& row_of(MetricSum quantity) {
  static const std::vector<Row> kRows = {
#define CHIP(name, family)
#define QUANTITY(name, counter, ...) {#name, counter, {__VA_ARGS__}},
#define TENSOR(...)
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
  };
  return kRows[static_cast<std::size_t>(quantity)];
}

const Row& row_of(TensorType type) {
  static const std::vector<Row> kRows = {
#define CHIP(name, family)
#define QUANTITY(...)
#define TENSOR(type, ...) {#type, kNone, {__VA_ARGS__}},
#include "common/device/cuda/cupti/metrics.def"
#undef CHIP
#undef QUANTITY
#undef TENSOR
  };
  return kRows[static_cast<std::size_t>(type)];
}

unsigned family_of(std::string_view chip) {
  const auto* found = std::find_if(std::begin(kChips), std::end(kChips), [&](const Chip& c) { return c.name == chip; });
  return found == std::end(kChips) ? 0 : found->family;
}

bool counts(const Row& row, unsigned family) {
  return std::any_of(row.terms.begin(), row.terms.end(), [&](const Term& t) { return (t.families & family) != 0; });
}

std::optional<double> value_of(const Row& row, unsigned family, const RangeValues& values) {
  if (!counts(row, family)) return std::nullopt;
  double total = 0;
  for (const Term& term : row.terms) {
    if ((term.families & family) == 0) continue;
    const auto found = values.metrics.find(term.metric);
    // Written as !(x >= 0), so that NaN is refused, too. CUPTI gives NaN or a negative value if it could not count, and
    // 0 only for a real zero.
    if (found == values.metrics.end() || !(found->second >= 0)) return std::nullopt;
    total += term.weight * found->second;
  }
  if (!(total >= 0) || !std::isfinite(total)) return std::nullopt;
  return total;
}

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

std::optional<std::uint64_t> tensor_flops(unsigned family, const RangeValues& values) {
  for (const TensorType type : kTensorTypes) {
    if (const auto flops = value_of(row_of(type), family, values)) return whole(*flops);
  }
  if (value_of(row_of(MetricSum::tensor_instructions), family, values) == 0.0) return 0;
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> counted_chips() { return kChipNames; }
std::span<const MetricSum> quantities() { return kMetricSums; }
std::span<const TensorType> tensor_types() { return kTensorTypes; }
std::string_view quantity_name(MetricSum quantity) { return row_of(quantity).name; }
std::string_view tensor_type_name(TensorType type) { return row_of(type).name; }

std::vector<std::string> metrics_of(std::string_view chip, std::optional<TensorType> tensor) {
  const unsigned family = family_of(chip);
  std::vector<std::string> names;
  const auto add = [&](const Row& row) {
    for (const Term& term : row.terms) {
      if ((term.families & family) == 0) continue;
      if (std::find(names.begin(), names.end(), term.metric) == names.end()) names.emplace_back(term.metric);
    }
  };
  const bool counts_type = tensor && counts(row_of(*tensor), family);
  for (const MetricSum quantity : kMetricSums) {
    if (quantity != MetricSum::tensor_instructions || !counts_type) add(row_of(quantity));
  }
  if (counts_type) add(row_of(*tensor));
  return names;
}

std::optional<double> value_of(MetricSum quantity, std::string_view chip, const RangeValues& values) {
  return value_of(row_of(quantity), family_of(chip), values);
}

Counters counters_of(std::string_view chip, const RangeValues& values) {
  const unsigned family = family_of(chip);
  Counters counters;
  for (const MetricSum quantity : kMetricSums) {
    const Row& row = row_of(quantity);
    if (!row.counter) continue;
    if (const auto value = value_of(row, family, values)) counters.set(*row.counter, whole(*value));
  }
  if (const auto flops = tensor_flops(family, values)) counters.set(Counter::flops_tensor, *flops);
  return counters;
}

std::vector<Counter> counters_known(std::string_view chip) {
  const unsigned family = family_of(chip);
  std::vector<Counter> known;
  for (const MetricSum quantity : kMetricSums) {
    const Row& row = row_of(quantity);
    if (row.counter && counts(row, family)) known.push_back(*row.counter);
  }
  if (counts(row_of(MetricSum::tensor_instructions), family)) known.push_back(Counter::flops_tensor);
  std::sort(known.begin(), known.end());
  return known;
}

}  // namespace roofwalk
