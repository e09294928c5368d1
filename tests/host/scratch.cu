// Uses each feature that roofwalk.cuh and a plan offer.
#include <roofwalk.cuh>

__global__ void twice(const float* a, float* c, int n) {
    extern __shared__ float tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? a[i] : 0.0f;
    if (i < n) c[i] = 2.0f * tile[threadIdx.x];
}

SOLVE(const float* a, float* c, int n) {
    float* half_way = scratch<float>(n);
    cudaMemset(half_way, 0, n * sizeof(float));
    cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
    twice<<<ceil_div(n, 256), 256, 64 * 1024>>>(a, half_way, n);
    cudaDeviceSynchronize();
    cudaMemcpy(c, half_way, n * sizeof(float), cudaMemcpyDeviceToDevice);
    if (cudaGetLastError() != cudaSuccess) return;
#ifdef ROOFWALK_HOST
    roofwalk::release_scratch();
#endif
}
