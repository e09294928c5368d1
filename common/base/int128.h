#pragma once

namespace roofwalk {

// 128-bit integers of GCC and clang; `__extension__` silences -Wpedantic.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

}  // namespace roofwalk
