// A row of the store: one attempt.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/json.h"

namespace roofwalk {

struct StoredAttempt {
  std::int64_t id = 0;
  std::string chapter, device;
  std::string created_at;  // UTC, ISO 8601; if empty, `add` fills in the current time
  std::string source_sha256;
  bool is_starter = false;
  bool is_in_walk = true;  // false: it belongs to an earlier walk, before a reset; `add` ignores it
  Json attempt;            // roofwalk.attempt/1
};

}  // namespace roofwalk
