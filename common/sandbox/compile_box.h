// The box for compilers: contains the toolkit, the system's compiler and headers, and the files to compile.
#pragma once

#include <filesystem>

#include "common/sandbox/box.h"

namespace roofwalk {

// Path of the toolkit inside the box.
inline constexpr const char* kBoxToolkit = "/cuda";

// Limits of compilers, the same inside and outside a box, so that a file that compiles at home also compiles when it
// is graded. The toolkit's heaviest headers (CUB, cooperative groups) take a tenth of the processor time and a
// quarter of the memory.
inline constexpr BoxLimits kCompileLimits{.cpu_s = 20};

// Returns the box without files. `#include` can read everything in the system's folders of programs, libraries and
// headers, and diagnostics print it, so no course material may be there. /usr/local and /usr/share are not in the box.
Box compile_box(const std::filesystem::path& toolkit);

}  // namespace roofwalk
