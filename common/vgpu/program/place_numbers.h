// The numbers of SMs and warps that a kernel reads. PTX leaves them open: SMs need not be numbered without gaps, and a
// warp's number is unique within its block, but need not follow from its threads. So they are others here than those by
// which a kernel might divide its work.
#pragma once

#include <cstdint>

namespace roofwalk::vgpu {

inline constexpr std::uint32_t kWarpNumbers = 64;                        // %nwarpid, as on an A100 or H100
inline constexpr std::uint32_t kFirstWarpNumber = kWarpNumbers / 2 + 1;  // of a block

// %warpid of a block's warp.
constexpr std::uint32_t number_of_warp(std::uint32_t warp) { return (kFirstWarpNumber + warp) % kWarpNumbers; }

// %nsmid of a machine with `sms` SMs: no SM has the number 1.
constexpr std::uint32_t numbers_of_sms(std::uint32_t sms) { return sms + 1; }

// %smid of the SM with this index.
constexpr std::uint32_t number_of_sm(std::uint32_t index) { return index == 0 ? 0 : index + 1; }

}  // namespace roofwalk::vgpu
