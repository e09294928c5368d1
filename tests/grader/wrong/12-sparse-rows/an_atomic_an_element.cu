// verdict: fail, right
// A thread for each element, which looks for its row by bisection and adds its product to y: balanced, coalesced, and full
// of loads that the rows did not need.
#include <roofwalk.cuh>

constexpr int kThreads = 256;

__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n,
                         int nonzeros) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= nonzeros) return;
    int low = 0, high = n;  // the row is the last one that begins at i or before
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (row_starts[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    atomicAdd(&y[low], values[i] * x[columns[i]]);
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    cudaMemsetAsync(y, 0, n * sizeof(float));
    multiply<<<ceil_div(nonzeros, kThreads), kThreads>>>(row_starts, columns, values, x, y, n, nonzeros);
}
