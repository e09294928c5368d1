// What the host remembers of an instruction from one execution to the next. No figure depends on it.
#pragma once

#include <cstdint>

#include "common/vgpu/memory/cache.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// The last buffer that an instruction touched: most stay with one.
struct BufferMemo {
  std::uint64_t low = 1, high = 0;
  std::uint8_t* data = nullptr;  // data + address - low
  std::uint64_t last = 0;        // of rows of a tile: where it loaded the last time
};

// A copy of one sector for each lane, as loads that walk along 32 rows want them: neighbours here, far apart in memory,
// where they would evict each other from the host's caches. Global memory stands still within a round.
struct SectorCopies {
  std::uint64_t first = 1, stride = 0;  // address of lane 0's sector, and from lane to lane
  std::uint64_t round = 0;
  std::uint32_t gathered = 0;  // bit w: words[w] is filled
  alignas(64) std::uint8_t bytes[kWarpSize * kSectorBytes];
  alignas(64) std::uint32_t words[kSectorBytes / 4][kWarpSize];  // of all sectors: the first, the second...
};

struct SharedMemo {  // the last pattern of shared addresses of an instruction
  std::uint32_t mask = 0;
  std::uint16_t wavefronts = 0, conflicts = 0;
  std::uint32_t relative[kWarpSize] = {};
  // In lockstep the pattern of an instruction never changes: what its steps cost, once somebody has looked.
  bool steps_known = false;
  std::uint16_t steps_wavefronts = 0, steps_conflicts = 0;
  std::uint32_t steps_bytes = 0;     // of all lanes
  std::uint64_t steps_requests = 0;  // so many of them; `count_steps` adds them to the site
};

// How often a ProductRun ran, which `count_steps` adds to the sites of its loads, and the wavefronts of all of them,
// once they are known.
struct ProductRunCount {
  bool known = false;
  std::uint32_t wavefronts = 0;
  std::uint64_t times = 0;
};

}  // namespace roofwalk::vgpu
