// Whether the host computed with subnormal floats. Intel's processors take over a hundred cycles for each operation
// that reads or makes one (a microcode assist), ten times as long as its units of work say.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace roofwalk::vgpu {

#if defined(__SSE2__)
namespace detail {
// MXCSR, Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, section 10.2.3: the sticky flags of
// subnormal operands and of underflow.
inline constexpr unsigned kSubnormalFlags = 1u << 1 | 1u << 4;
}  // namespace detail

inline void forget_subnormals() { _mm_setcsr(_mm_getcsr() & ~detail::kSubnormalFlags); }

// Whether this thread met one since forget_subnormals(). Misses exact subnormal results that no operation reads.
inline bool met_subnormals() { return (_mm_getcsr() & detail::kSubnormalFlags) != 0; }
#else
inline void forget_subnormals() {}
inline bool met_subnormals() { return false; }
#endif

}  // namespace roofwalk::vgpu
