// What a chapter counts as useful work, in the words of cards, charts and reports.
#pragma once

#include <optional>
#include <string_view>

namespace roofwalk {

// flop: floating-point operations. operation: operations on integers. key: elements of input that are sorted into bins
// or places, for work that is not arithmetic.
enum class WorkUnit { flop, operation, key };

struct UnitWords {
  std::string_view one;         // "FLOP", also the unit's name in exercise.toml and in JSON
  std::string_view many;        // "FLOPs"
  std::string_view per_second;  // "FLOP/s"
  std::string_view per_byte;    // "FLOP/B"
};

const UnitWords& words_of(WorkUnit unit);

std::optional<WorkUnit> unit_from_name(std::string_view name);  // of UnitWords::one

}  // namespace roofwalk
