// The real CUPTI of the toolkit that the project uses. Its host calls need no GPU and no driver; the others crash
// without, and are never called here.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/build/build.h"
#include "common/device/cuda/cupti_api.h"

namespace roofwalk {

// Nothing where there is none: `why` says so.
inline std::optional<CuptiApi> real_cupti(std::string& why) {
  const auto toolkit = find_toolkit(ROOFWALK_SOURCE_DIR);
  auto api = load_cupti_api(toolkit ? toolkit->root : "");
  if (api) return *api;
  why = api.error().text();
  return std::nullopt;
}

}  // namespace roofwalk
