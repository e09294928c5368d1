// A warp sleeps; each lane asks for `ns_per_lane` more than the one before it.
#include <roofwalk.cuh>

__global__ void sleep(float* out, int ns_per_lane) {
    __nanosleep(threadIdx.x * ns_per_lane);
    out[threadIdx.x] = 1;
}

SOLVE(float* out, int ns_per_lane) { sleep<<<1, 32>>>(out, ns_per_lane); }
