// Reads pieces of `sectors` sectors, `pitch` sectors apart, or scattered over the array: DRAM by pages and sectors.
// A lane reads 8 bytes, so that four lanes read a sector.
#include <roofwalk.cuh>

__global__ void read(const double* __restrict__ values, double* out, int log_sectors, int log_pieces, int pitch,
                     unsigned scatter, int steps) {
    const unsigned lane4 = threadIdx.x % 4;
    double sum = 0;
    unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) / 4;
    const unsigned stride = gridDim.x * blockDim.x / 4;
    for (int step = 0; step < steps; ++step, at += stride) {
        unsigned piece = at >> log_sectors;
        if (scatter != 0) piece *= scatter;  // odd, so that no piece repeats
        piece &= (1u << log_pieces) - 1;
        const unsigned sector = at & ((1u << log_sectors) - 1);
        sum += values[(static_cast<long long>(piece) * pitch + sector) * 4 + lane4];
    }
    if (sum == 123.0) out[threadIdx.x] = sum;
}

SOLVE(const double* values, double* out, int log_sectors, int log_pieces, int pitch, int scatter, int blocks, int steps) {
    read<<<blocks, 256>>>(values, out, log_sectors, log_pieces, pitch, static_cast<unsigned>(scatter), steps);
}
