// Hints for each cause of a diagnosis, for chapters without hints of their own: first a question to look into, then the
// idea, then the change.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace roofwalk {

struct CauseHints {
  std::string_view cause;  // one of diagnosis_causes()
  std::array<std::string_view, 3> degrees;
};

std::span<const CauseHints> cause_hints();

}  // namespace roofwalk
