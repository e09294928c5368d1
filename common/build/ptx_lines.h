// Where a piece of PTX comes from in the learner's file, found in the text's `.loc` lines alone.
#pragma once

#include <string_view>

namespace roofwalk {

// The name under which the compiler sees every source. It is fixed, so that no learner's file name reaches a compiler.
inline constexpr std::string_view kSourceName = "kernel.cu";

// The source line of the PTX line (1-based), or 0 where no line owns it.
int source_line_of_ptx_line(std::string_view ptx, int ptx_line);

// The first source line of the body of a kernel, or 0.
int source_line_of_kernel(std::string_view ptx, std::string_view mangled_name);

}  // namespace roofwalk
