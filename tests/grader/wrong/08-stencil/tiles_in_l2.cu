// verdict on classroom: fail, up
// Both sweeps for 16 x 1024 elements at a time, so that the L2 keeps what lies between them. Each pair of launches
// takes longer than its bytes. (Where more fits into the L2, so that launches hardly count, this is an honest way.)
#include <roofwalk.cuh>

constexpr int kHigh = 16, kWide = 1024;  // elements of y for a pair of launches
constexpr int kPitch = kWide + 2;        // of the first sweep's result, which has a border of one

__device__ float at(const float* a, int row, int col, int rows, int cols) {
    return row >= 0 && row < rows && col >= 0 && col < cols ? a[row * cols + col] : 0.0f;
}

__global__ void first(const float* x, float* once, int top, int left, int rows, int cols) {
    const int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= kPitch) return;
    const int row = top - 1 + r, col = left - 1 + c;
    const float sides = at(x, row - 1, col, rows, cols) + at(x, row + 1, col, rows, cols) +
                        at(x, row, col - 1, rows, cols) + at(x, row, col + 1, rows, cols);
    const bool is_inside = row >= 0 && row < rows && col >= 0 && col < cols;
    once[r * kPitch + c] = is_inside ? 0.5f * x[row * cols + col] + 0.125f * sides : 0.0f;
}

__global__ void second(const float* once, float* y, int top, int left, int rows, int cols) {
    const int row = top + blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || left + c >= cols) return;
    const float* here = once + (blockIdx.y + 1) * kPitch + c + 1;
    y[row * cols + left + c] = 0.5f * here[0] + 0.125f * (here[-kPitch] + here[kPitch] + here[-1] + here[1]);
}

SOLVE(const float* x, float* y, int rows, int cols) {
    float* once = scratch<float>((kHigh + 2) * kPitch);
    for (int top = 0; top < rows; top += kHigh) {
        for (int left = 0; left < cols; left += kWide) {
            first<<<dim3(ceil_div(kPitch, 256), kHigh + 2), 256>>>(x, once, top, left, rows, cols);
            second<<<dim3(kWide / 256, kHigh), 256>>>(once, y, top, left, rows, cols);
        }
    }
}
