// IEEE binary16 numbers (CUDA's half) on the host.
#pragma once

#include <cstdint>

namespace roofwalk {

// Returns the nearest IEEE binary16 value, ties to even; infinite beyond its range.
float half_rounded(double value);

// Returns the 16 bits of a value that a half represents exactly; other values lose bits. NaN becomes 0x7e00.
std::uint16_t half_bits(float value);

// Returns the exact value of these bits.
float half_value(std::uint16_t bits);

}  // namespace roofwalk
