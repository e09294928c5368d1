// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// A warp walks down 64 rows, one column a lane, and shuffles give the neighbours to the left and right.
#include <roofwalk.cuh>

constexpr int kWarps = 8;  // per block; each walks down a strip of its own, one column a lane
constexpr int kWide = 28;  // columns of a strip: the two outer lanes on each side only hold what others need
constexpr int kHigh = 64;  // rows of a strip
constexpr unsigned kAll = 0xffffffff;

// The mean around `here`. The neighbours to the left and right belong to other lanes.
__device__ float mean(float above, float here, float below) {
    const float left = __shfl_up_sync(kAll, here, 1), right = __shfl_down_sync(kAll, here, 1);
    return 0.5f * here + 0.125f * (above + below + left + right);
}

__global__ void two_sweeps(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    const int lane = threadIdx.x % 32, first = (blockIdx.x * kWarps + threadIdx.x / 32) * kWide;
    if (first >= cols) return;
    const int col = first + lane - 2, top = blockIdx.y * kHigh, end = min(top + kHigh, rows);
    const bool has_column = col >= 0 && col < cols, stores = has_column && lane >= 2 && lane < 30;
    const auto x_of = [&](int row) { return has_column && row >= 0 && row < rows ? x[row * cols + col] : 0.0f; };
    // The first sweep's result of a row is zero outside the array.
    const auto inside = [&](int row, float v) { return has_column && row >= 0 && row < rows ? v : 0.0f; };

    float x0 = x_of(top - 2), x1 = x_of(top - 1), x2 = x_of(top), x3 = x_of(top + 1);
    float once0 = inside(top - 1, mean(x0, x1, x2));
    float once1 = inside(top, mean(x1, x2, x3));
    for (int row = top; row < end; ++row) {
        const float x4 = x_of(row + 2);
        const float once2 = inside(row + 1, mean(x2, x3, x4));
        const float v = mean(once0, once1, once2);
        if (stores) y[row * cols + col] = v;
        once0 = once1, once1 = once2;
        x2 = x3, x3 = x4;
    }
}

SOLVE(const float* x, float* y, int rows, int cols) {
    const dim3 grid(ceil_div(cols, kWide * kWarps), ceil_div(rows, kHigh));
    two_sweeps<<<grid, kWarps * 32>>>(x, y, rows, cols);
}
