// Which of the processes on a GPU are this program's.
#pragma once

#include "common/device/cuda/gpu_state.h"

namespace roofwalk {

// This process, those that it started, and theirs, as /proc knows them now. `workers`: how many of them have the GPU
// open, for where process numbers cannot tell.
OwnWork own_work(std::size_t workers);

}  // namespace roofwalk
