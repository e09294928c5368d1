// Wrappers of inline PTX: ldmatrix (shared memory to registers), mma.m16n8k16, and cp.async (16 bytes from global to
// shared memory, without registers in between). All lanes of the warp must call the first two together.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

// Whether a block may have 227 KiB of shared memory. Elsewhere the kernels make do with the 63 KiB that all chips from
// compute capability 8.0 on provide.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
constexpr bool kHasMuchShared = true;
#else
constexpr bool kHasMuchShared = false;
#endif

__device__ inline unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Starts a copy of 16 bytes; if not `exists`, nothing is read and zeros are stored.
__device__ inline void ask_16(void* to, const void* from, bool exists) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(exists ? 16 : 0));
}
__device__ inline void close_group() { asm volatile("cp.async.commit_group;"); }
template <int kOpen>  // groups that may still be in flight
__device__ inline void wait_for_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kOpen));
}

// Loads four pieces of 8 x 8 halves; lane l gives the address of a row of piece l / 8.
__device__ inline void load_pieces(unsigned (&piece)[4], const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(piece[0]), "=r"(piece[1]), "=r"(piece[2]), "=r"(piece[3])
                 : "r"(shared_address(row)));
}
__device__ inline void load_pieces_transposed(unsigned (&piece)[4], const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(piece[0]), "=r"(piece[1]), "=r"(piece[2]), "=r"(piece[3])
                 : "r"(shared_address(row)));
}

// sum (16 x 8) += a (16 x 16) b (16 x 8). Of `sum`, a lane holds rows lane / 4 and lane / 4 + 8, and in each of them
// columns lane % 4 * 2 and the next.
__device__ inline void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
