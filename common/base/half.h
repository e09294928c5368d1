// Numbers of IEEE binary16, the half of CUDA, on the host.
#pragma once

#include <cstdint>

namespace roofwalk {

// The nearest value of IEEE binary16, ties to even; infinite beyond its range.
float half_rounded(double value);

// The 16 bits of a value that a half holds exactly (others lose what does not fit); NaN is 0x7e00.
std::uint16_t half_bits(float value);

// Exact.
float half_value(std::uint16_t bits);

}  // namespace roofwalk
