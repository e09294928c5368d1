// A learner's own program, which sees only the declaration of solve.
#include <cuda_runtime.h>

void solve(const float* a, float* c, int n);

int main() {
    float *a = nullptr, *c = nullptr;
    cudaMalloc(&a, 4);
    cudaMalloc(&c, 4);
    solve(a, c, 1);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
