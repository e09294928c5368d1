// verdict: not_graded, work was skipped
// Strassen, with seven products of half size instead of eight: right, but with fewer FLOPs than the chapter counts.
#include <roofwalk.cuh>

constexpr int kTile = 32;

// to = x + factor * y, all of n columns; the rows of x and y begin `stride` elements apart.
__global__ void combine(float* to, const float* x, float factor, const float* y, int n, int stride) {
    const int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < n) to[row * n + column] = x[row * stride + column] + factor * y[row * stride + column];
}

// c = a b; the rows of a, b and c begin a_stride, b_stride and n elements apart.
__global__ void gemm(const float* a, int a_stride, const float* b, int b_stride, float* c, int m, int n, int k) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;

    float sum = 0.0f;
    for (int from = 0; from < k; from += kTile) {
        a_tile[y][x] = row < m && from + x < k ? a[row * a_stride + from + x] : 0.0f;
        b_tile[y][x] = from + y < k && column < n ? b[(from + y) * b_stride + column] : 0.0f;
        __syncthreads();

        for (int i = 0; i < kTile; ++i) {
            sum += a_tile[y][i] * b_tile[i][x];
        }
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

// Computes the quarters of c from the seven products, each h x w.
__global__ void assemble(const float* p, float* c, int h, int w) {
    const int size = h * w, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    float* to = c + i / w * 2 * w + i % w;
    to[0] = p[i] + p[i + 3 * size] - p[i + 4 * size] + p[i + 6 * size];
    to[w] = p[i + 2 * size] + p[i + 4 * size];
    to[2 * h * w] = p[i + size] + p[i + 3 * size];
    to[2 * h * w + w] = p[i] - p[i + size] + p[i + 2 * size] + p[i + 5 * size];
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    const dim3 block(kTile, kTile);
    if (m % 2 != 0 || n % 2 != 0 || k % 2 != 0) {
        gemm<<<dim3(ceil_div(n, kTile), ceil_div(m, kTile)), block>>>(a, k, b, n, c, m, n, k);
        return;
    }
    // A quarter of a is h x d, one of b d x w, one of c h x w.
    const int h = m / 2, w = n / 2, d = k / 2, size = h * w;
    const dim3 grid(ceil_div(w, kTile), ceil_div(h, kTile));
    const dim3 of_a(ceil_div(d, 256), h), of_b(ceil_div(w, 256), d);
    const float *a11 = a, *a12 = a + d, *a21 = a + h * k, *a22 = a21 + d;
    const float *b11 = b, *b12 = b + w, *b21 = b + d * n, *b22 = b21 + w;
    float *left = scratch<float>(h * d), *right = scratch<float>(d * w), *p = scratch<float>(7 * size);
    combine<<<of_a, 256>>>(left, a11, 1, a22, d, k);
    combine<<<of_b, 256>>>(right, b11, 1, b22, w, n);
    gemm<<<grid, block>>>(left, d, right, w, p, h, w, d);
    combine<<<of_a, 256>>>(left, a21, 1, a22, d, k);
    gemm<<<grid, block>>>(left, d, b11, n, p + size, h, w, d);
    combine<<<of_b, 256>>>(right, b12, -1, b22, w, n);
    gemm<<<grid, block>>>(a11, k, right, w, p + 2 * size, h, w, d);
    combine<<<of_b, 256>>>(right, b21, -1, b11, w, n);
    gemm<<<grid, block>>>(a22, k, right, w, p + 3 * size, h, w, d);
    combine<<<of_a, 256>>>(left, a11, 1, a12, d, k);
    gemm<<<grid, block>>>(left, d, b22, n, p + 4 * size, h, w, d);
    combine<<<of_a, 256>>>(left, a21, -1, a11, d, k);
    combine<<<of_b, 256>>>(right, b11, 1, b12, w, n);
    gemm<<<grid, block>>>(left, d, right, w, p + 5 * size, h, w, d);
    combine<<<of_a, 256>>>(left, a12, -1, a22, d, k);
    combine<<<of_b, 256>>>(right, b21, 1, b22, w, n);
    gemm<<<grid, block>>>(left, d, right, w, p + 6 * size, h, w, d);
    assemble<<<ceil_div(size, 256), 256>>>(p, c, h, w);
}
