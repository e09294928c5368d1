// Lines of PTX text: maps them to the learner's lines by `.loc`, and puts each instruction on a line of its own.
#pragma once

#include <string>
#include <string_view>

namespace roofwalk {

// The name under which the compiler sees every source. It is fixed, so that no learner's file name reaches a
// compiler.
inline constexpr std::string_view kSourceName = "kernel.cu";

// Returns the source line of a PTX line (1-based); 0 if there is none.
int source_line_of_ptx_line(std::string_view ptx, int ptx_line);

// Returns the first source line in a kernel's body; 0 if there is none.
int source_line_of_kernel(std::string_view ptx, std::string_view mangled_name);

// Returns the PTX with at most one instruction per line: ptxas reports only the PTX line of each machine instruction,
// and inline assembly may put several instructions on a line. Other lines are unchanged.
std::string one_instruction_a_line(std::string_view ptx);

}  // namespace roofwalk
