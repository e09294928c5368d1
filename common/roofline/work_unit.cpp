#include "common/roofline/work_unit.h"

#include <algorithm>
#include <array>

namespace roofwalk {
namespace {

constexpr std::array<UnitWords, 3> kWords = {
    {{"FLOP", "FLOPs", "FLOP/s", "FLOP/B"}, {"OP", "operations", "OP/s", "OP/B"}, {"key", "keys", "key/s", "key/B"}}};

}  // namespace

const UnitWords& words_of(WorkUnit unit) { return kWords[static_cast<std::size_t>(unit)]; }

std::optional<WorkUnit> unit_from_name(std::string_view name) {
  const auto found = std::find_if(kWords.begin(), kWords.end(), [&](const UnitWords& w) { return w.one == name; });
  if (found == kWords.end()) return std::nullopt;
  return static_cast<WorkUnit>(found - kWords.begin());
}

}  // namespace roofwalk
