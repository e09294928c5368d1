// Further calls of SOLVE on the same module. A trial loads the module anew, so that its `__device__` variables hold
// what the file gives them. In a program they keep their values from call to call: a kernel that never sets them back
// is right once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/exercise/exercise.h"
#include "grader/attempt/trial.h"

namespace roofwalk {

// A call that went wrong. Its reason tells which call it was, and why that may be.
struct WrongCall {
  Trial trial;
  Size size;
};

// Calls SOLVE four times on one device: at the last of these sizes, there with other values, at the first size, where
// hardly anything may be left from the calls before, and at the last again: a counter that only grows may be right as
// long as all grids have the same size. The last call is sanitized. Returns the first that goes wrong; nullopt if none
// does, or if the module has no variables.
Result<std::optional<WrongCall>> later_calls(const DeviceFactory& open, const Exercise& exercise,
                                             const std::vector<Size>& sizes, std::uint64_t seed,
                                             const Artifact& artifact, const RunOptions& limits);

// Whether the PTX declares variables in device memory.
bool has_device_variables(std::string_view ptx);

}  // namespace roofwalk
