// Per-instruction caches that speed up the host. They affect no reported number.
#pragma once

#include <cstdint>

#include "common/vgpu/memory/sectors.h"
#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// The buffer that an instruction accessed last. Most instructions stay within one buffer.
struct BufferMemo {
  std::uint64_t low = 1, high = 0;
  std::uint8_t* data = nullptr;  // host address of the byte at `low`
  std::uint64_t last = 0;        // address of the last tile-row load, for prefetching
};

// Copies, side by side, of one sector per lane. They serve loads in which each lane walks along a row of its own: the
// original sectors are far apart and would evict each other from the host's caches. The copies are valid for one round,
// because global memory does not change within a round.
struct SectorCopies {
  std::uint64_t first = 1, stride = 0;  // sector address of lane 0; distance between lanes
  std::uint64_t round = 0;
  std::uint32_t gathered = 0;  // bit w: words[w] is filled
  alignas(64) std::uint8_t bytes[kWarpSize * kSectorBytes];
  alignas(64) std::uint32_t words[kSectorBytes / 4][kWarpSize];  // words[w]: word w of every sector
};

struct SharedMemo {  // the pattern of shared memory addresses that an instruction used last
  std::uint32_t mask = 0;
  std::uint16_t wavefronts = 0, conflicts = 0;
  std::uint32_t relative[kWarpSize] = {};
  // In lockstep code, an instruction always has the same pattern. The following members hold its cost, once
  // lockstep_known is set.
  bool lockstep_known = false;
  std::uint16_t lockstep_wavefronts = 0, lockstep_conflicts = 0;
  std::uint32_t lockstep_bytes = 0;     // over all lanes
  std::uint64_t lockstep_requests = 0;  // requests with this cost that count_steps() has not yet added to the site
};

// How often a ProductRun ran (count_steps() adds this to the sites of its loads) and, once `known`, the wavefronts of
// all its loads together.
struct ProductRunCount {
  bool known = false;
  std::uint32_t wavefronts = 0;
  std::uint64_t times = 0;
};

}  // namespace roofwalk::vgpu
