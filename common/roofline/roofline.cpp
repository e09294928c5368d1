#include "common/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/roofline/si.h"

namespace roofwalk {
const MemoryRoof* Roofs::memory_roof(std::string_view level) const {
  const auto found = std::find_if(memory.begin(), memory.end(), [&](const MemoryRoof& r) { return r.level == level; });
  return found == memory.end() ? nullptr : &*found;
}

std::optional<double> Roofs::peak() const {
  if (is_memory_only) return std::numeric_limits<double>::infinity();
  return compute.empty() ? std::nullopt : std::optional(compute.front().flops_per_s);
}

bool Roofs::is_of_tensor_cores() const { return !compute.empty() && compute.front().name == "tensor"; }

double attainable_flops_per_s(double ai, double bytes_per_s, double peak_flops_per_s) {
  return std::min(peak_flops_per_s, ai * bytes_per_s);
}

double ridge_flops_per_byte(double bytes_per_s, double peak_flops_per_s) { return peak_flops_per_s / bytes_per_s; }

double vertical_gap(const Point& point, double bytes_per_s, double peak_flops_per_s) {
  return attainable_flops_per_s(point.ai, bytes_per_s, peak_flops_per_s) / point.flops_per_s;
}

double horizontal_gap(double observed_ai, double algorithmic_ai) { return algorithmic_ai / observed_ai; }

Movement movement(const Point& from, const Point& to) {
  return {.right = to.ai / from.ai, .up = to.flops_per_s / from.flops_per_s};
}

std::string needed_flops_text(double useful_flops, double least_flops) {
  std::string text = si_text(useful_flops, "FLOP");
  if (least_flops > 0) text += fmt::format(", or by algebra no fewer than {}", si_text(least_flops, "FLOP"));
  return text;
}

std::vector<std::string> implausible(const SanityInput& input) {
  const UnitWords& unit = words_of(input.unit);
  std::vector<std::string> reasons;
  const double roof = attainable_flops_per_s(input.point.ai, input.bytes_per_s, input.peak_flops_per_s);
  // Written as !(good) so that NaN is implausible too.
  if (!(input.point.flops_per_s <= kMostOfRoof * roof)) {
    reasons.push_back(fmt::format(
        "{} is {} x what the roof allows at {} ({}): the data came from a warm cache, or this is the wrong roof",
        si_text(input.point.flops_per_s, unit.per_second), number_text(input.point.flops_per_s / roof),
        si_text(input.point.ai, unit.per_byte), si_text(roof, unit.per_second)));
  }
  if (!(input.bytes >= kLeastOfCompulsoryBytes * input.compulsory_bytes)) {
    reasons.push_back(fmt::format(
        "{} moved, but reading every input and writing every output once takes {}: the data came from a warm cache, or "
        "work was skipped",
        si_text(input.bytes, "B"), si_text(input.compulsory_bytes, "B")));
  }
  if (input.unit == WorkUnit::flop && skips_flops(input.executed_flops, input.useful_flops, input.least_flops)) {
    const std::string halves =
        input.half_flops > 0 ? fmt::format(" (besides {} in half precision)", si_text(input.half_flops, "FLOP")) : "";
    reasons.push_back(fmt::format("{} executed{}, but the algorithm needs {}: work was skipped",
                                  si_text(input.executed_flops, "FLOP"), halves,
                                  needed_flops_text(input.useful_flops, input.least_flops)));
  }
  return reasons;
}

}  // namespace roofwalk
