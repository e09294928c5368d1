// Extents of grids and of blocks, places in them, and numbers of blocks.
#pragma once

#include <cstdint>
#include <vector>

namespace roofwalk {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// Linear indices of blocks, by launch of a plan.
using BlockNumbers = std::vector<std::vector<std::uint64_t>>;

}  // namespace roofwalk
