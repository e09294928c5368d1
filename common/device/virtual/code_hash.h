// A hash of a file's instructions, used to choose the sampled blocks of a large grid.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofwalk {

// Hashes the code of a PTX text, so that editing a comment in a kernel does not change any figure. Ignores comments,
// line numbers, debug sections, and the digits in names of static symbols, which nvcc derives from the source.
std::uint64_t hash_of_code(std::string_view ptx);

}  // namespace roofwalk
