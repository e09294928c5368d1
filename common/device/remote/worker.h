// The inside of a worker process: serves a device on a descriptor, until it closes. It holds what it was sent, and
// decides nothing.
#pragma once

#include <functional>
#include <memory>

#include "common/device/device.h"

namespace roofwalk {

// Whether the process was started as a worker: there is a socket at kChannelDescriptor.
bool is_worker();

// Opens the device, says so at kChannelDescriptor, and answers requests (messages.h) one after the other. What the
// device writes to this process's stdout goes to the record of the run. The process makes itself the first that the
// kernel ends when memory runs out. Returns when the descriptor closes or what comes in is no request: 0 or 1, the exit
// code.
int serve_device(const std::function<Result<std::unique_ptr<Device>>()>& open);

}  // namespace roofwalk
