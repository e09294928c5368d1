#include "common/device/cuda/cupti/cupti_errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofwalk {
namespace {

constexpr CuptiTrouble kTroubles[] = {
#define CUPTI_TROUBLE(number, name, id, cause, advice) {CUPTI_ERROR_##name, "CUPTI_ERROR_" #name, #id, cause, advice},
#include "common/device/cuda/cupti/cupti_errors.def"
#undef CUPTI_TROUBLE
};

#define CUPTI_TROUBLE(number, name, id, cause, advice) static_assert(CUPTI_ERROR_##name == (number));
#include "common/device/cuda/cupti/cupti_errors.def"
#undef CUPTI_TROUBLE

}  // namespace

std::span<const CuptiTrouble> cupti_troubles() { return kTroubles; }

const CuptiTrouble* find_cupti_trouble(CUptiResult result) {
  const auto* found =
      std::find_if(std::begin(kTroubles), std::end(kTroubles), [&](const auto& row) { return row.number == result; });
  return found == std::end(kTroubles) ? nullptr : found;
}

Error cupti_error(CUptiResult result, std::string_view call) {
  const CuptiTrouble* trouble = find_cupti_trouble(result);
  if (trouble == nullptr) {
    return {.message = fmt::format("no counters: CUPTI reports an error ({}: {})", call, static_cast<int>(result)),
            .advice = "run it again; if it stays, run `./roofwalk doctor`"};
  }
  return {.message = fmt::format("no counters: {} ({}: {}, {})", trouble->cause, call, trouble->name,
                                 static_cast<int>(result)),
          .advice = std::string(trouble->advice)};
}

}  // namespace roofwalk
