#include "common/roofline/cause.h"

#include <algorithm>

#include "common/roofline/causes.h"

namespace roofwalk {

void Claim::take(TimePart part, double ns) {
  ns = std::clamp(ns, 0.0, left_[part]);
  left_[part] -= ns;
  taken_[part] += ns;
}

std::span<const Cause* const> causes_in_order() {
  static const std::vector<const Cause*> causes = [] {
    std::vector<const Cause*> all(std::begin(cause::kAll), std::end(cause::kAll));
    std::stable_sort(all.begin(), all.end(), [](const Cause* a, const Cause* b) { return a->order < b->order; });
    return all;
  }();
  return causes;
}

const Cause* find_cause(std::string_view id) {
  const auto found =
      std::find_if(std::begin(cause::kAll), std::end(cause::kAll), [&](const Cause* cause) { return cause->id == id; });
  return found == std::end(cause::kAll) ? nullptr : *found;
}

}  // namespace roofwalk
