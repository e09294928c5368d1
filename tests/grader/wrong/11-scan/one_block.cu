// verdict on classroom: fail, up
// One block walks along the whole array with what came before in hand: one trip, and no machine to make it.
#include <roofwalk.cuh>

constexpr int kThreads = 1024;

__device__ int block_scan(int own) {
    __shared__ int of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int before = __shfl_up_sync(0xffffffff, own, distance);
        if (lane >= distance) own += before;
    }
    if (lane == 31) of_warp[warp] = own;
    __syncthreads();
    for (int w = 0; w < warp; ++w) own += of_warp[w];
    return own;
}

// Returns x[i] to x[i + 3], with zeros past the end. i is a multiple of 4.
__device__ int4 load4(const int* x, int i, int n) {
    if (i + 3 < n) return *reinterpret_cast<const int4*>(x + i);
    return make_int4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, 0);
}

__device__ void store4(int* sums, int i, int n, int4 v) {
    if (i + 3 < n) {
        *reinterpret_cast<int4*>(sums + i) = v;
        return;
    }
    if (i < n) sums[i] = v.x;
    if (i + 1 < n) sums[i + 1] = v.y;
    if (i + 2 < n) sums[i + 2] = v.z;
}

__global__ void __launch_bounds__(kThreads) scan(const int* x, int* sums, int n) {
    __shared__ int carry;
    int before = 0;
    int4 next = load4(x, threadIdx.x * 4, n);
    for (int first = 0; first < n; first += kThreads * 4) {
        const int i = first + threadIdx.x * 4;
        int4 v = next;
        if (first + kThreads * 4 < n) next = load4(x, i + kThreads * 4, n);
        v.y += v.x;
        v.z += v.y;
        v.w += v.z;
        const int own = before + block_scan(v.w), mine = own - v.w;
        store4(sums, i, n, make_int4(mine + v.x, mine + v.y, mine + v.z, mine + v.w));
        if (threadIdx.x == kThreads - 1) carry = own;
        __syncthreads();
        before = carry;
    }
}

SOLVE(const int* x, int* sums, int n) { scan<<<1, kThreads>>>(x, sums, n); }
