// The code inside a worker process: serves a device on a descriptor until that closes. It stores what it is sent and
// makes no decisions.
#pragma once

#include <functional>
#include <memory>

#include "common/device/device.h"

namespace roofwalk {

// Whether this process was started as a worker: kChannelDescriptor is a socket.
bool is_worker();

// Opens the device, sends a greeting over kChannelDescriptor, and answers requests (messages.h) one by one. What the
// device writes to this process's stdout goes into the run's record. The process makes itself the kernel's first choice
// when memory runs out. Returns the exit code: 0 once the descriptor closes or an invalid message arrives, 1 if the
// device cannot be opened or the greeting cannot be sent.
int serve_device(const std::function<Result<std::unique_ptr<Device>>()>& open);

}  // namespace roofwalk
