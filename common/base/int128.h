#pragma once

namespace roofwalk {

// The 128-bit integers of GCC and clang; `__extension__` suppresses -Wpedantic warnings.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

}  // namespace roofwalk
