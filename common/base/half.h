// IEEE binary16 numbers (CUDA's half) on the host.
#pragma once

#include <cstdint>

namespace roofwalk {

// The nearest IEEE binary16 value, ties to even; infinite beyond its range.
float half_rounded(double value);

// The 16 bits of a value that a half represents exactly; other values lose bits. NaN becomes 0x7e00.
std::uint16_t half_bits(float value);

// An exact conversion.
float half_value(std::uint16_t bits);

}  // namespace roofwalk
