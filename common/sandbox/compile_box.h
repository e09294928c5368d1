// The box that compilers run in: the toolkit, the system's own compiler and headers, and what is to be compiled.
#pragma once

#include <filesystem>

#include "common/sandbox/box.h"

namespace roofwalk {

// Where the toolkit lies inside, whatever its place outside.
inline constexpr const char* kBoxToolkit = "/cuda";

// Of a compiler, in a box and outside of one: what somebody's own computer compiles, a class is graded on. The heaviest
// headers of the toolkit (CUB, cooperative groups) take a tenth of the processor time and a quarter of the memory.
inline constexpr BoxLimits kCompileLimits{.cpu_s = 20};

// Without files. Everything below the system's folders of programs, libraries and headers can be read by `#include`,
// and diagnostics print it: nothing of a course may lie there. /usr/local and /usr/share are left out.
Box compile_box(const std::filesystem::path& toolkit);

}  // namespace roofwalk
