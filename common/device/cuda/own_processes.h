// Finds out which processes on a GPU belong to this program.
#pragma once

#include "common/device/cuda/nvml/gpu_state.h"

namespace roofwalk {

// Returns this process and all its descendants, from /proc. `workers`: how many of them use the GPU. This number serves
// instead of the PIDs in a container, where these differ from the host's.
OwnProcesses own_processes(std::size_t workers);

}  // namespace roofwalk
