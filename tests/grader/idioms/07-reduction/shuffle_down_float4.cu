// grade: pass
// on a100-80: ace
// on h100-sxm: ace
// on rtx4090: ace
// NVIDIA's "Faster parallel reductions on Kepler", with float4 and the masks of today: shuffles, one atomic a block.
#include <roofwalk.cuh>

constexpr int kThreads = 512;

__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[32];
    const int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0.0f;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

__global__ void deviceReduceBlockAtomicKernelVector4(const float* in, float* out, int n) {
    float sum = 0.0f;
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 4
    for (int i = idx; i < n / 4; i += blockDim.x * gridDim.x) {
        const float4 val = reinterpret_cast<const float4*>(in)[i];
        sum += (val.x + val.y) + (val.z + val.w);
    }
    const int i = idx + n / 4 * 4;
    if (i < n) sum += in[i];
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

SOLVE(const float* x, float* sum, int n) {
    cudaMemsetAsync(sum, 0, sizeof(float));
    const int blocks = min(ceil_div(n, kThreads * 16), 1024);
    deviceReduceBlockAtomicKernelVector4<<<blocks, kThreads>>>(x, sum, n);
}
