// CUPTI's errors in plain words: their meaning and who can fix them.
#pragma once

#include <span>
#include <string_view>

#include "common/base/result.h"
#include "common/device/cuda/cupti/cupti_api.h"

namespace roofwalk {

struct CuptiTrouble {
  CUptiResult number = CUPTI_SUCCESS;
  std::string_view name;  // "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
  std::string_view id;    // "permission": the cause, for programs; several numbers may share one
  std::string_view cause, advice;
};

// Returns the rows of cupti_errors.def, by ascending number.
std::span<const CuptiTrouble> cupti_troubles();
const CuptiTrouble* find_cupti_trouble(CUptiResult result);  // nullptr: not in the table

// Returns the Error "no counters: the cause (cuptiRangeProfilerEnable: CUPTI_ERROR_..., 35)", with advice. `call`: the
// call that failed.
Error cupti_error(CUptiResult result, std::string_view call);

}  // namespace roofwalk
