// verdict: not_graded, tensor cores
// Each FP32 product is three TF32 products: accurate enough, but their roof is eight times higher than the drawn one.
#include <roofwalk.cuh>

// Computes d (16 x 8) += a (16 x 8) b (8 x 8), matrices that are spread over the lanes of a warp.
__device__ void multiply(float* d, const unsigned* a, const unsigned* b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Splits a value into the upper bits, which TF32 keeps, and the remainder.
__device__ void split(float value, unsigned& high, unsigned& low) {
    high = __float_as_uint(value) & 0xffffe000u;
    low = __float_as_uint(value - __uint_as_float(high));
}

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * 16 + threadIdx.x / 4, column = blockIdx.x * 8;
    const int lane_row = threadIdx.x / 4, lane_step = threadIdx.x % 4;
    float sum[4] = {};
    for (int from = 0; from < k; from += 8) {
        unsigned a_high[4], a_low[4], b_high[2], b_low[2];
        for (int i = 0; i < 4; ++i) {
            const int r = row + 8 * (i % 2), step = from + lane_step + 4 * (i / 2);
            split(r < m && step < k ? a[r * k + step] : 0.0f, a_high[i], a_low[i]);
        }
        for (int i = 0; i < 2; ++i) {
            const int step = from + lane_step + 4 * i;
            split(step < k && column + lane_row < n ? b[step * n + column + lane_row] : 0.0f, b_high[i], b_low[i]);
        }
        multiply(sum, a_low, b_high);
        multiply(sum, a_high, b_low);
        multiply(sum, a_high, b_high);
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row + 8 * (i / 2), s = column + 2 * lane_step + i % 2;
        if (r < m && s < n) c[r * n + s] = sum[i];
    }
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 grid(ceil_div(n, 8), ceil_div(m, 16));
    gemm<<<grid, 32>>>(a, b, c, m, n, k);
}
