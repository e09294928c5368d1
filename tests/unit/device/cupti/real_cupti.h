// The real CUPTI of the project's toolkit. Its host calls need no GPU and no driver. The other calls would crash
// without a driver, so tests never make them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/build/build.h"
#include "common/device/cuda/cupti/cupti_api.h"

namespace roofwalk {

// Returns the real CUPTI, or nullopt if there is none; `why` then gives the reason.
inline std::optional<CuptiApi> real_cupti(std::string& why) {
  const auto toolkit = find_toolkit(ROOFWALK_SOURCE_DIR);
  auto api = load_cupti_api(toolkit ? toolkit->root : "");
  if (api) return *api;
  why = api.error().text();
  return std::nullopt;
}

}  // namespace roofwalk
