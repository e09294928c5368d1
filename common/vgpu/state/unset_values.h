// Values that nobody has written, in sanitized runs: what a warp has loaded from unwritten bytes of local or shared
// memory. Copying such a value is no mistake, as whole structures are copied of which some members are not set; using
// it is (exec/follow_unset.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// A register that holds such values, directly or as results of arithmetic on them.
struct UnsetRegister {
  std::uint32_t lanes = 0;
  const Op* load = nullptr;  // that has read the unwritten bytes
  bool is_local = false;
  std::uint32_t bytes = 0;                        // per lane, of the load
  std::array<std::uint64_t, kWarpSize> offset{};  // by lane: of the load, in local or shared memory
};

// Exists while at least one register of the warp holds such values.
struct UnsetValues {
  static constexpr std::size_t kMostParts = 4;  // of the data of one load or store

  std::map<int, UnsetRegister> registers;  // by PTX register
  // A load that finds unwritten bytes returns `detour`, whose handler goes on at `next` and follows the values.
  Op detour;
  const Op* next = nullptr;
  std::array<std::uint32_t, kMostParts>
      stored{};  // by part of the data of the store that runs: lanes with such a value
};

}  // namespace roofwalk::vgpu
