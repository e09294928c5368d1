// A Plan on its way to another process, and back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/plan/plan.h"

namespace roofwalk {

// The steps as JSON; the bytes of the launches' arguments are appended to `arguments`, one launch after another.
Json packed_json(const Plan& plan, std::vector<std::uint8_t>& arguments);

// Errors: in one line, what is missing, unknown, of another type or too much; argument bytes that are too few or too
// many.
Result<Plan> plan_from_json(const Json& json, std::span<const std::uint8_t> arguments);

}  // namespace roofwalk
