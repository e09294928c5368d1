// The box in which the virtual GPU reads untrusted code. It contains one program, the system's libraries, the machine
// files, and what every box has (common/sandbox/box.h).
#pragma once

#include <filesystem>
#include <string>

#include "common/device/remote/worker_process.h"

namespace roofwalk {

// Returns the command that starts `program` (this program, or another that serves devices) in a box as `program
// --device DEVICE device-worker`. `root` contains common/specs. Errors: the program or the user's machine file cannot
// be read.
Result<WorkerCommand> boxed_worker(const std::filesystem::path& program, const std::filesystem::path& root,
                                   const std::string& device, int threads);

}  // namespace roofwalk
