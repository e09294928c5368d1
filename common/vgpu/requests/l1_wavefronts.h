// Wavefronts of L1: how often a request passes L1's data banks.
#pragma once

#include <cstdint>

#include "common/vgpu/requests/coalescer.h"

namespace roofwalk::vgpu {

// Returns the wavefronts of a global or local request that L1 serves. L1 has the banks of shared memory, 32 of 4 bytes,
// so distinct words in one bank take one wavefront each. Accesses of 8 and 16 bytes per lane are split into half and
// quarter warps, which take a wavefront each even where all lanes ask for the same bytes. (RRZE-HPC/gpu-benches,
// gpu-strides, A100 and H200: published times per load are the larger of these wavefronts and of the lines over the
// lines that L1 looks up in a clock.)
std::uint64_t l1_wavefronts(const Access& access);

}  // namespace roofwalk::vgpu
