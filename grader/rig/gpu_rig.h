// What a rig on a real GPU has in addition: worker processes for kernels, and turns among the GPU's users.
#pragma once

#include <optional>
#include <string>

#include "common/device/gpu_queue.h"
#include "grader/rig/rig.h"

namespace roofwalk {

// Returns a factory of devices. It can open any number of them, one after the other, in one worker process. Its first
// call starts the worker; a call from another thread starts a new one. `device`: the value of --device ("cuda:0").
// `program`: the executable of the worker, which is this program itself. With Isolation::boxed, the worker also makes
// the launch plans, and its assembler runs in a box. The worker itself cannot run in a box, because it needs the
// driver.
DeviceFactory devices_in_worker(const std::string& device, const std::filesystem::path& program, Isolation isolation);

// Waits until the GPU is free for timing, and keeps other processes from timing on it while the result lives. nullopt
// for the virtual GPU, which is not shared. `doing` is shown to those who wait.
Result<std::optional<GpuTurn>> wait_for_turn(const Rig& rig, const std::string& doing);

// The present state of a real GPU; nullopt if it cannot be read.
std::optional<GpuState> state_of(const Rig& rig);

}  // namespace roofwalk
