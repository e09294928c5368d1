#include <roofwalk.cuh>
__global__ void rowsum(const float* x, float* y, int cols) {
  __shared__ float part[32];
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += x[blockIdx.x * cols + i];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) { float t = 0; for (int i = 0; i < blockDim.x / 32; ++i) t += part[i]; y[blockIdx.x] = t; }
}
__global__ void layernorm(const float* x, const float* g, const float* b, float* y, int rows, int cols, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float mean = 0, var = 0;
  for (int i = 0; i < cols; ++i) mean += x[row * cols + i];
  mean /= cols;
  for (int i = 0; i < cols; ++i) { const float d = x[row * cols + i] - mean; var += d * d; }
  const float s = rsqrtf(var / cols + eps);
  for (int i = 0; i < cols; ++i) y[row * cols + i] = (x[row * cols + i] - mean) * s * g[i] + b[i];
}
__global__ void transpose(const float* a, float* b, int n) {
  __shared__ float t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) t[threadIdx.y + j][threadIdx.x] = a[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) b[(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];
}
__global__ void softmax(const float* x, float* y, int n) {
  float m = -1e30f, s = 0;
  for (int i = 0; i < n; ++i) m = fmaxf(m, x[i * 32 + threadIdx.x]);
  for (int i = 0; i < n; ++i) s += expf(x[i * 32 + threadIdx.x] - m);
  for (int i = 0; i < n; ++i) y[i * 32 + threadIdx.x] = expf(x[i * 32 + threadIdx.x] - m) / s;
}
__global__ void histogram(const int* x, int* h, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[x[i] % 100], 1);
}
__global__ void doubles(const double* x, double* y, int n) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i] * x[i] + sqrt(x[i]) / 3.0;
}
__global__ void ops(const float* x, const int* u, float* y, int* v, int n) {
  for (int i = threadIdx.x; i < n; i += 256) {
    y[i] = x[i] / x[i + 1];
    y[i + n] = sqrtf(x[i + 2]);
    y[i + 2 * n] = sinf(x[i + 3] );
    v[i] = u[i] / u[i + 1];
    v[i + n] = u[i + 3] % 7;
    y[i + 3 * n] = 1.0f / x[i + 4];
  }
}
SOLVE(const float* a, float* c, int n) {
  rowsum<<<1, 256>>>(a, c, n);
  layernorm<<<1, 256>>>(a, a, a, c, n, n, 1e-5f);
  transpose<<<1, dim3(32, 8)>>>(a, c, n);
  softmax<<<1, 32>>>(a, c, n);
  histogram<<<1, 32>>>((const int*)a, (int*)c, n);
  doubles<<<1, 32>>>((const double*)a, (double*)c, n);
  ops<<<1, 32>>>(a, (const int*)a, c, (int*)c, n);
}
