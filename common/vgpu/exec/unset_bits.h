// Which bits of a result nobody has set, if nobody has set some bits of what it is computed from.
#pragma once

#include <cstdint>
#include <span>

#include "common/ptx/module.h"

namespace roofwalk::vgpu {

// A source of an instruction, in one lane.
struct UnsetSource {
  std::uint64_t bits = 0;   // that nobody has set
  std::uint64_t value = 0;  // of the others
  bool is_known = false;    // whether `value` is
};

// For arithmetic, logic, conversions and comparisons. Logic, shifts, bit fields and permutations move single bits, and
// a mask that is set clears them; in a sum or difference, carries do; a product has no value from the lowest unset bit
// of its sources upwards. A comparison of integers is set if it comes out alike whatever the unset bits are; a minimum,
// a maximum and a count or search of bits, as far as their results begin alike. Of all else, the whole result, unless a
// predicate that is set decides it.
std::uint64_t unset_result(const ptx::Instruction& in, std::span<const UnsetSource> sources);

// Bits of a register of this type; those of the 128-bit type are not told apart.
std::uint64_t bits_of_type(ptx::Type type);

}  // namespace roofwalk::vgpu
