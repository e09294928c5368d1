// Converts a Plan to JSON and back, to send it to another process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/plan/plan.h"

namespace roofwalk {

// Returns the steps as JSON and appends the bytes of the launches' arguments to `arguments`, in order.
Json packed_json(const Plan& plan, std::vector<std::uint8_t>& arguments);

// Reads the output of packed_json. Errors, in one line: a member that is missing, unknown, of the wrong type or too
// large; too few or too many argument bytes.
Result<Plan> plan_from_json(const Json& json, std::span<const std::uint8_t> arguments);

}  // namespace roofwalk
