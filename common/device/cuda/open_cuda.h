// A real GPU with all that belongs to it: driver, counters, ptxas. For a worker process (common/device/remote), which a
// kernel may spoil; nobody else opens one.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "common/build/build.h"
#include "common/device/device.h"

namespace roofwalk {

// Which GPU "cuda" (the first) or "cuda:2" means; nothing for another kind of device, -1 for what is no number.
std::optional<int> cuda_ordinal(std::string_view device);

// `toolkit`: whose ptxas and CUPTI serve; nothing: the driver compiles, and CUPTI is the system's, if there is one.
// Counters that are not to be had are no error: the records' notes say why. The first device of a process asks CUPTI in
// a child process whether it may count, for that may crash. Errors: no driver, no such GPU.
Result<std::unique_ptr<Device>> open_cuda(int ordinal, const std::optional<Toolkit>& toolkit);

}  // namespace roofwalk
