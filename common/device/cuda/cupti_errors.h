// CUPTI's errors in plain words: what they mean and who can do something about them.
#pragma once

#include <span>
#include <string_view>

#include "common/base/result.h"
#include "common/device/cuda/cupti_api.h"

namespace roofwalk {

struct CuptiTrouble {
  CUptiResult number = CUPTI_SUCCESS;
  std::string_view name;  // "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
  std::string_view id;    // "permission": the cause for programs, the same for several numbers
  std::string_view cause, advice;
};

// The rows of cupti_errors.def, ascending by number.
std::span<const CuptiTrouble> cupti_troubles();
const CuptiTrouble* find_cupti_trouble(CUptiResult result);  // nullptr: none of them

// "no counters: the cause (cuptiRangeProfilerEnable: CUPTI_ERROR_..., 35)", with advice. `call`: what reported it.
Error cupti_error(CUptiResult result, std::string_view call);

}  // namespace roofwalk
