#pragma once

namespace roofwalk {

// GCC's and clang's 128-bit integers; `__extension__` tells -Wpedantic that they are meant.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

}  // namespace roofwalk
