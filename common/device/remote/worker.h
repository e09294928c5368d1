// The code of a worker process: serves a device on a descriptor until that closes. It executes requests and makes no
// decisions of its own.
#pragma once

#include <functional>
#include <memory>

#include "common/device/device.h"

namespace roofwalk {

// Whether this process was started as a worker, i.e. kChannelDescriptor is a socket.
bool is_worker();

// Opens the device, sends a greeting over kChannelDescriptor, and answers requests (messages.h) one by one, with the
// bytes of buffers in the memory behind kSharedDescriptor. Output of the device to this process's stdout becomes part
// of the run's record. The process makes itself the kernel's first choice to be killed when memory runs out. Returns
// the exit code: 0 when the descriptor closes or an invalid message arrives, 1 if the device or the shared memory
// cannot be opened or the greeting cannot be sent.
int serve_device(const std::function<Result<std::unique_ptr<Device>>()>& open);

}  // namespace roofwalk
