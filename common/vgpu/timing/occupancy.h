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
  double warps_share = 0;         // resident warps over the most that fit on an SM
  std::int64_t shared_bytes = 0;  // shared memory of all resident blocks of an SM, with what the system reserves
};

// Returns an error if not a single block fits on an SM; it names the resource that is short.
Result<Occupancy> occupancy_of(const Machine& machine, const BlockNeeds& needs);

// Returns the size of an SM's L1 while a kernel runs: what is left beside the smallest carve-out for shared memory that
// all resident blocks fit into, at most Machine::l1_bytes.
std::int64_t l1_bytes_beside(const Machine& machine, std::int64_t shared_bytes);

}  // namespace roofwalk::vgpu
