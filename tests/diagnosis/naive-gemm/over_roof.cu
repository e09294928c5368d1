// diagnosis: over_roof, line 54
#include <roofwalk.cuh>

// One step of Strassen's algorithm where all extents are even: seven products of half the size instead of eight. The
// result is right, but the chapter counts the FLOPs of another algorithm.

// Returns an element of a half-size block of a matrix: 0 upper left, 1 upper right, 2 lower left, 3 lower right.
__device__ float block_at(const float* x, int rows, int columns, int block, int row, int column) {
    return x[(row + block / 2 * rows) * 2 * columns + column + block % 2 * columns];
}

// How to make the seven products' factors from x: each is block `one` of x plus `sign` times block `two`.
struct Terms {
    int one[7], two[7], sign[7];
};

__device__ void sum_blocks(const float* x, float* out, int rows, int columns, const Terms& terms) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= columns) return;
#pragma unroll
    for (int p = 0; p < 7; ++p) {
        float sum = block_at(x, rows, columns, terms.one[p], row, column);
        if (terms.sign[p] > 0) sum += block_at(x, rows, columns, terms.two[p], row, column);
        if (terms.sign[p] < 0) sum -= block_at(x, rows, columns, terms.two[p], row, column);
        out[(p * rows + row) * columns + column] = sum;
    }
}

__global__ void sums_of_a(const float* a, float* out, int rows, int columns) {
    constexpr Terms kTerms = {{0, 2, 0, 3, 0, 2, 1}, {3, 3, 0, 0, 1, 0, 3}, {1, 1, 0, 0, 1, -1, -1}};
    sum_blocks(a, out, rows, columns, kTerms);
}

__global__ void sums_of_b(const float* b, float* out, int rows, int columns) {
    constexpr Terms kTerms = {{0, 0, 1, 2, 3, 0, 2}, {3, 0, 3, 0, 0, 1, 3}, {1, 0, -1, -1, 0, 1, 1}};
    sum_blocks(b, out, rows, columns, kTerms);
}

// Four rows of all seven products give four rows of each block of c.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    constexpr int kRows = 4;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
    if (row >= m || column >= n) return;
    float product[7][kRows] = {};
#pragma unroll
    for (int p = 0; p < 7; ++p) {
        const float *of_a = a + p * m * k, *of_b = b + p * k * n;
#pragma unroll 4
        for (int i = 0; i < k; ++i) {
            const float value = of_b[i * n + column];
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                product[p][r] += of_a[min(row + r, m - 1) * k + i] * value;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        if (row + r >= m) break;
        float* upper = c + (row + r) * 2 * n + column;
        float* lower = upper + m * 2 * n;
        upper[0] = product[0][r] + product[3][r] - product[4][r] + product[6][r];
        upper[n] = product[2][r] + product[4][r];
        lower[0] = product[1][r] + product[3][r];
        lower[n] = product[0][r] - product[1][r] + product[2][r] + product[5][r];
    }
}

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(32, 8);
    if (m % 2 != 0 || n % 2 != 0 || k % 2 != 0) {
        gemm<<<dim3(ceil_div(n, 32), ceil_div(m, 8)), block>>>(a, b, c, m, n, k);
        return;
    }
    m /= 2, n /= 2, k /= 2;
    float *of_a = scratch<float>(7ull * m * k), *of_b = scratch<float>(7ull * k * n);
    sums_of_a<<<dim3(ceil_div(k, 256), m), 256>>>(a, of_a, m, k);
    sums_of_b<<<dim3(ceil_div(n, 256), k), 256>>>(b, of_b, k, n);
    multiply<<<dim3(ceil_div(n, 32), ceil_div(m, 32)), block>>>(of_a, of_b, c, m, n, k);
}
