// The lines of PTX text: where they come from in the learner's file, found in the text's `.loc` lines alone, and one
// for each instruction.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk {

// The name under which the compiler sees every source. It is fixed, so that no learner's file name reaches a compiler.
inline constexpr std::string_view kSourceName = "kernel.cu";

// The source line of the PTX line (1-based), or 0 where no line owns it.
int source_line_of_ptx_line(std::string_view ptx, int ptx_line);

// The first source line of the body of a kernel, or 0.
int source_line_of_kernel(std::string_view ptx, std::string_view mangled_name);

// The same PTX with at most one instruction a line: inline assembly may have several, and ptxas tells only the line
// that a machine instruction was made for. Lines that hold one at most stay as they are.
std::string one_instruction_a_line(std::string_view ptx);

}  // namespace roofwalk
