// Opens a real GPU with everything it needs: driver, counters, ptxas. Only for a worker process (common/device/remote),
// because a kernel may corrupt it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "common/build/build.h"
#include "common/device/device.h"

namespace roofwalk {

// Returns the ordinal of "cuda" (0) or "cuda:2"; nullopt for another kind of device, -1 if the number is invalid.
std::optional<int> cuda_ordinal(std::string_view device);

// Opens a GPU. `toolkit` provides ptxas and CUPTI; nullopt: the driver compiles, and the system's CUPTI is used, if
// there is one. Missing counters are not an error: the records' notes give the reason. The first device of a process
// asks CUPTI in a child process whether it can count, because that may crash. Errors: no driver, no such GPU.
Result<std::unique_ptr<Device>> open_cuda(int ordinal, const std::optional<Toolkit>& toolkit);

}  // namespace roofwalk
