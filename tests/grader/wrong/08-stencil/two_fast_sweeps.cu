// verdict: fail, right
// quick
// Each sweep walks down with its rows in registers and moves each byte once, but there are still two of them.
#include <roofwalk.cuh>

constexpr int kWarps = 8, kWide = 30, kHigh = 64;

__global__ void sweep(const float* __restrict__ from, float* __restrict__ to, int rows, int cols) {
    const int lane = threadIdx.x % 32, first = (blockIdx.x * kWarps + threadIdx.x / 32) * kWide;
    if (first >= cols) return;
    const int col = first + lane - 1, top = blockIdx.y * kHigh, end = min(top + kHigh, rows);
    const bool has_column = col >= 0 && col < cols, stores = has_column && lane >= 1 && lane < 31;
    const auto value_of = [&](int row) { return has_column && row >= 0 && row < rows ? from[row * cols + col] : 0.0f; };
    float above = value_of(top - 1), here = value_of(top);
#pragma unroll 4
    for (int row = top; row < end; ++row) {
        const float below = value_of(row + 1);
        const float left = __shfl_up_sync(0xffffffff, here, 1), right = __shfl_down_sync(0xffffffff, here, 1);
        if (stores) to[row * cols + col] = 0.5f * here + 0.125f * (above + below + left + right);
        above = here;
        here = below;
    }
}

SOLVE(const float* x, float* y, int rows, int cols) {
    float* once = scratch<float>(rows * cols);
    const dim3 grid(ceil_div(cols, kWide * kWarps), ceil_div(rows, kHigh));
    sweep<<<grid, kWarps * 32>>>(x, once, rows, cols);
    sweep<<<grid, kWarps * 32>>>(once, y, rows, cols);
}
