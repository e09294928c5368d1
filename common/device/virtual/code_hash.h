// A number for the instructions of a file: which blocks stand for a large grid is drawn with it.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofwalk {

// The same for two texts of PTX that differ in comments, in line numbers, in debug sections or in the digits that nvcc
// puts into the names of static symbols, which are a hash of the source: a comment in a kernel moves no figure.
std::uint64_t hash_of_code(std::string_view ptx);

}  // namespace roofwalk
