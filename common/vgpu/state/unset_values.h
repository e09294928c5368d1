// Values that nobody has written, in sanitized runs: what a warp has loaded from unwritten bytes of local or shared
// memory. Copying such a value is no mistake, as whole structures are copied of which some members are not set; using
// it is (exec/follow_unset.h). The same holds for what a shuffle gets from a lane that its mask does not name: where
// half a warp adds up its values, only its first lane's sum counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// A register that holds such values, directly or as results of arithmetic on them.
struct UnsetRegister {
  std::uint32_t lanes = 0;
  const Op* load = nullptr;  // that has read the unwritten bytes; or the shuffle
  bool is_local = false, is_shuffled = false;
  std::uint32_t bytes = 0;  // per lane, of the load
  // By lane: of the load, in local or shared memory; of a shuffle: the lane that it reads from, and from bit 32 on its
  // mask.
  std::array<std::uint64_t, kWarpSize> offset{};
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
