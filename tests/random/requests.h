// Counts the cost of one warp request by brute force, by the rules in common/vgpu/COUNTING.md and shared_memory.h.
#pragma once

#include <cstdint>
#include <vector>

namespace roofwalk::random {

inline constexpr int kLanes = 32;

struct Request {
  std::uint64_t bytes = 0;  // per thread
  struct Lane {
    int lane;
    std::uint64_t address;
  };
  std::vector<Lane> lanes;  // participating lanes
};

struct Footprint {
  std::uint64_t sectors = 0, lines = 0;
};
struct Turns {
  std::uint64_t wavefronts = 0, conflicts = 0;
};

Footprint global_footprint(const Request& request);
// Computes the footprint in local memory, which is interleaved by word: the same word of all lanes is contiguous. An
// access counts as one request per word.
Footprint local_footprint(const Request& request);
Turns shared_turns(const Request& request, bool is_load, bool is_atomic);

}  // namespace roofwalk::random
