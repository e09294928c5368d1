// verdict: fail, right
// The tree lies in DRAM: each launch adds neighbours and halves the array, until one value is left.
#include <roofwalk.cuh>

__global__ void add_pairs(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i < n) out[i] = in[2 * i] + (2 * i + 1 < n ? in[2 * i + 1] : 0.0f);
}

SOLVE(const float* x, float* sum, int n) {
    const float* in = x;
    do {
        const int pairs = ceil_div(n, 2);
        float* out = pairs == 1 ? sum : scratch<float>(pairs);
        add_pairs<<<ceil_div(pairs, 256), 256>>>(in, out, n);
        in = out;
        n = pairs;
    } while (n > 1);
}
