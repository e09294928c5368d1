#pragma once

#include <cstdint>

namespace roofwalk {

// Applies the 64-bit finalizer of MurmurHash3 (Austin Appleby, public domain).
inline std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

}  // namespace roofwalk
