// The box that the virtual GPU runs in when it reads what strangers wrote: a program, its libraries, and nothing to
// read, write or start.
#pragma once

#include <filesystem>
#include <string>

#include "common/device/remote/worker_process.h"

namespace roofwalk {

// How `program` (this program, or one that serves devices as it does) is started in a box as
// `program --device DEVICE device-worker`. `root` holds common/specs. Errors: the machine's own file cannot be read.
Result<WorkerCommand> boxed_worker(const std::filesystem::path& program, const std::filesystem::path& root,
                                   const std::string& device, int threads);

}  // namespace roofwalk
