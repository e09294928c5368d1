// How many blocks of a kernel fit on an SM at once: exact, from the resources that ptxas reports.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/specs/machine.h"

namespace roofwalk::vgpu {

struct BlockNeeds {
  std::uint64_t threads = 0;
  int registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;  // static and dynamic
};

struct Occupancy {
  int blocks_per_sm = 0;
  double warps_share = 0;  // resident warps over the most that fit on an SM
};

// Returns an error if not a single block fits on an SM; it names the resource that is short.
Result<Occupancy> occupancy_of(const Machine& machine, const BlockNeeds& needs);

}  // namespace roofwalk::vgpu
