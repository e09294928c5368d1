// What a bench on a real GPU has beside others: kernels run in worker processes, and people take turns.
#pragma once

#include <optional>
#include <string>

#include "common/device/gpu_queue.h"
#include "grader/rig/bench.h"

namespace roofwalk {

// Devices that live in one process, started when the first is asked for, and again by another thread that asks: as many
// as one likes, one after the other.
// `device` is what --device says ("cuda:0"); `program` is this program, which serves as the worker. With
// Isolation::boxed the worker makes the launch plans as well, and its assembler runs in a box; the worker itself does
// not, since it needs the driver.
DeviceFactory devices_in_worker(const std::string& device, const std::filesystem::path& program, Isolation isolation);

// On a GPU that others use as well: until the end of what it returns nobody else times there. Nothing for the virtual
// GPU, which everybody has for himself. `doing` is what the others read.
Result<std::optional<GpuTurn>> wait_for_turn(const Bench& bench, const std::string& doing);

// What a real GPU does now; nothing where nobody can tell.
std::optional<GpuState> state_of(const Bench& bench);

}  // namespace roofwalk
