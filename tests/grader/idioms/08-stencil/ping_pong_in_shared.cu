// grade: pass
// on a100-80: ace
// on rtx4090: ace
// Any number of sweeps between two shared arrays that take turns. Each sweep covers one element less on each side.
#include <roofwalk.cuh>

constexpr int kSweeps = 2;
constexpr int kWide = 64, kHigh = 36;                                          // of a tile of x, its halo included
constexpr int kOutWide = kWide - 2 * kSweeps, kOutHigh = kHigh - 2 * kSweeps;  // of y, for a block
constexpr int kDown = 4;

__global__ void sweeps(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[2][kHigh][kWide];
    const int c = threadIdx.x, col = blockIdx.x * kOutWide - kSweeps + c, top = blockIdx.y * kOutHigh - kSweeps;
    const auto is_inside = [&](int row) { return row >= 0 && row < rows && col >= 0 && col < cols; };

#pragma unroll
    for (int j = 0; j < kHigh / kDown; ++j) {
        const int r = j * kDown + threadIdx.y;
        tile[0][r][c] = is_inside(top + r) ? x[(top + r) * cols + col] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (int s = 1; s <= kSweeps; ++s) {
        float(*from)[kWide] = tile[(s - 1) % 2];
        float(*to)[kWide] = tile[s % 2];
        for (int r = threadIdx.y; r < kHigh; r += kDown) {
            if (r < s || r >= kHigh - s || c < s || c >= kWide - s) continue;
            const float sides = from[r - 1][c] + from[r + 1][c] + from[r][c - 1] + from[r][c + 1];
            to[r][c] = is_inside(top + r) ? 0.5f * from[r][c] + 0.125f * sides : 0.0f;
        }
        __syncthreads();
    }

    for (int r = kSweeps + threadIdx.y; r < kHigh - kSweeps; r += kDown) {
        if (c >= kSweeps && c < kWide - kSweeps && is_inside(top + r)) {
            y[(top + r) * cols + col] = tile[kSweeps % 2][r][c];
        }
    }
}

SOLVE(const float* x, float* y, int rows, int cols) {
    const dim3 block(kWide, kDown);
    const dim3 grid(ceil_div(cols, kOutWide), ceil_div(rows, kOutHigh));
    sweeps<<<grid, block>>>(x, y, rows, cols);
}
