// Tells a fault of a program's kernel. The memory that a program allocates has no names, so that an array is told as
// the argument of the kernel that points to it, with the element that its type says.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/fault.h"

namespace roofwalk::cudart {

// How the names of what a program allocates begin.
inline constexpr std::string_view kAllocation = "allocation ";

// A pointer among a kernel's arguments, into an allocation.
struct PointerArgument {
  std::size_t number = 0;  // of the parameter, from 0
  std::string buffer;      // name of the allocation
};

// One line: "app.cu:12: out of bounds: writes argument 3[1024], but argument 3 holds 1024 elements (kernel add, block
// 4, thread 0)". `mangled`: the kernel's name. The fault counts the elements of allocations in bytes.
std::string fault_text(const Fault& fault, const std::string& mangled, const std::vector<PointerArgument>& pointers);

// The bytes of what a parameter points to, by its type in a demangled name: 4 for "float const*"; 0: unknown.
std::size_t element_bytes(std::string_view parameter);

// The types of a demangled function's parameters: {"float*", "std::pair<int, int>"}.
std::vector<std::string> parameters_of(std::string_view demangled);

}  // namespace roofwalk::cudart
