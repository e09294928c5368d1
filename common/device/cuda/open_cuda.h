// Opens a real GPU with everything it needs: driver, counters, ptxas. Only for a worker process (common/device/remote),
// because a kernel may make the process unusable.
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
// there is one. Missing counters are not an error: the records' notes give the reason. A child process first tries
// whether CUPTI can count, because CUPTI may crash. Errors: no driver, no such GPU.
Result<std::unique_ptr<Device>> open_cuda(int ordinal, const std::optional<Toolkit>& toolkit);

}  // namespace roofwalk
