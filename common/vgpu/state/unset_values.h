// Values that nobody has written, in sanitized runs: what a warp has loaded from unwritten bytes of local or shared
// memory. Copying such a value is no mistake, as whole structures are copied of which some members are not set, and
// bit fields are set one by one in words that hold nothing yet; using it is (exec/follow_unset.h). The same holds for
// what a shuffle gets from a lane with another mask, or from one that has ended: where half a warp adds up its values,
// only its first lane's sum counts; and for registers that a warp begins with (Program::unwritten).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

// The load that has found unwritten bytes, and where; or the shuffle; or an unwritten register.
struct UnsetOrigin {
  enum class Where : std::uint8_t { local, shared, global, other_lane, ended_lane, unwritten_register };
  const Op* load = nullptr;  // of an unwritten register: the first instruction of the code that reads it
  Where where = Where::local;
  bool is_copy = false;     // it was stored there, unset as it was
  std::uint8_t lane = 0;    // that has loaded
  std::uint32_t bytes = 0;  // of the load, per lane
  // Of the load, in local or shared memory; global memory: its address. Of a shuffle: the thread within the block from
  // which it reads, and from bit 32 on the mask of the thread that reads.
  std::uint64_t offset = 0;
};

// A register that holds such values, directly or as results of arithmetic on them.
class UnsetRegister {
 public:
  std::uint32_t lanes() const { return lanes_; }  // with such a value
  std::uint64_t bits(int lane) const { return bits_[static_cast<std::size_t>(lane)]; }
  const UnsetOrigin& from(int lane) const { return from_[static_cast<std::size_t>(lane)]; }
  void put(int lane, std::uint64_t bits, const UnsetOrigin& from) {
    bits_[static_cast<std::size_t>(lane)] = bits;
    lanes_ = bits != 0 ? lanes_ | 1u << lane : lanes_ & ~(1u << lane);
    if (bits != 0) from_[static_cast<std::size_t>(lane)] = from;
  }

 private:
  std::uint32_t lanes_ = 0;
  std::array<std::uint64_t, kWarpSize> bits_{};  // by lane: which bits nobody has set
  std::array<UnsetOrigin, kWarpSize> from_{};    // by lane: of one of these bits
};

// Exists while at least one register of the warp holds such values, or is to get them back.
struct UnsetValues {
  static constexpr std::size_t kMostParts = 4;  // of the data of one load or store

  std::map<int, UnsetRegister> registers;  // by PTX register
  int kept = 0;                            // open calls that have kept marks of the caller's registers
  // A load that finds unwritten bytes returns `detour`, whose handler goes on at `next` and follows the values.
  Op detour;
  const Op* next = nullptr;
  std::vector<UnsetRegister> stored;  // by part: the data of the store that runs; empty: all of it is set
};

}  // namespace roofwalk::vgpu
