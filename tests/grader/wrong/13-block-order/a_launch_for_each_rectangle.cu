// verdict on classroom: fail, up
// A launch for each rectangle of 4 x 8 tiles. All of its blocks run together, as is wanted, but then the SMs run empty
// and wait for the next launch. (On a chip whose rectangles are larger than here, this costs less.)
#include <roofwalk.cuh>

constexpr int kTile = 16;

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k, int first_row, int first_column) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = (first_row + blockIdx.y) * kTile + y, column = (first_column + blockIdx.x) * kTile + x;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        const float from_a = row < m && from + x < k ? a[row * k + from + x] : 0.0f;
        const float from_b = from + y < k && column < n ? b[(from + y) * n + column] : 0.0f;
        a_tile[y][x] = from_a;
        b_tile[y][x] = from_b;
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    for (int row = 0; row < ceil_div(m, kTile); row += 4) {
        for (int column = 0; column < ceil_div(n, kTile); column += 8) {
            gemm<<<dim3(8, 4), dim3(kTile, kTile)>>>(a, b, c, m, n, k, row, column);
        }
    }
}
