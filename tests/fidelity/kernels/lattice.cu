// A step of a lattice-Boltzmann fluid, D3Q19, on a periodic box: a thread a cell, blocks of 64; relaxation with one
// time. Densities of a direction lie together, in TYPE float or half; they are streamed in place: a cell reads half of
// them from itself and half from its neighbours, and writes them where the others' next step reads them (Esoteric
// Pull).
#include <cuda_fp16.h>
#include <roofwalk.cuh>

#ifndef HALF
#define HALF 0
#endif

#if HALF
using Stored = unsigned short;
__device__ float load(const Stored* at) { return __half2float(__ushort_as_half(*at)) * 3.0517578e-5f; }
__device__ void store(Stored* at, float value) { *at = __half_as_ushort(__float2half(value * 32768.0f)); }
#else
using Stored = float;
__device__ float load(const Stored* at) { return *at; }
__device__ void store(Stored* at, float value) { *at = value; }
#endif

constexpr int kSide = 256;  // cells in x and in y

__global__ void __launch_bounds__(64)
    step(Stored* densities, const unsigned char* flags, unsigned depth, unsigned odd, float rate) {
    const unsigned cells = kSide * kSide * depth, cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells) return;
    if (flags[cell] != 0) return;
    const unsigned x0 = cell % kSide, rest = cell / kSide % kSide * kSide, z = cell / (kSide * kSide);
    const unsigned xp = (x0 + 1) % kSide, xm = (x0 + kSide - 1) % kSide;
    const unsigned y0 = rest, yp = (rest + kSide) % (kSide * kSide),
                   ym = (rest + kSide * kSide - kSide) % (kSide * kSide);
    const unsigned z0 = z * kSide * kSide, zp = (z + 1) % depth * kSide * kSide,
                   zm = (z + depth - 1) % depth * kSide * kSide;
    // The neighbours in the first direction of each pair of opposite ones.
    const unsigned next[9] = {xp + y0 + z0, x0 + yp + z0, x0 + y0 + zp, xp + yp + z0, xp + y0 + zp,
                              x0 + yp + zp, xp + ym + z0, xp + y0 + zm, x0 + yp + zm};
    constexpr int kX[9] = {1, 0, 0, 1, 1, 0, 1, 1, 0}, kY[9] = {0, 1, 0, 1, 0, 1, -1, 0, 1};
    constexpr int kZ[9] = {0, 0, 1, 0, 1, 1, 0, -1, -1};
    const auto at = [&](unsigned where, unsigned direction) {
        return densities + (direction * static_cast<unsigned long long>(cells) + where);
    };
    float f[19];
    f[0] = load(at(cell, 0));
#pragma unroll
    for (unsigned i = 0; i < 9; ++i) {
        f[2 * i + 1] = load(at(cell, odd ? 2 * i + 1 : 2 * i + 2));
        f[2 * i + 2] = load(at(next[i], odd ? 2 * i + 2 : 2 * i + 1));
    }
    float density = f[0], x = 0, y = 0, w = 0;
#pragma unroll
    for (int i = 0; i < 9; ++i) {
        density += f[2 * i + 1] + f[2 * i + 2];
        const float flow = f[2 * i + 1] - f[2 * i + 2];
        x += kX[i] * flow;
        y += kY[i] * flow;
        w += kZ[i] * flow;
    }
    density += 1;  // densities are stored less their value at rest
    const float by = 1 / density;
    x = fminf(fmaxf(x * by, -0.57735027f), 0.57735027f);
    y = fminf(fmaxf(y * by, -0.57735027f), 0.57735027f);
    w = fminf(fmaxf(w * by, -0.57735027f), 0.57735027f);
    const float less = density - 1, squares = -3 * (x * x + y * y + w * w);
    f[0] = (1 - rate) * f[0] + rate * (1.0f / 3 * (density * (0.5f * squares) + less));
#pragma unroll
    for (int i = 0; i < 9; ++i) {
        const float weight = i < 3 ? 1.0f / 18 : 1.0f / 36;
        const float along = 3 * (kX[i] * x + kY[i] * y + kZ[i] * w);
        const float even = 0.5f * (along * along + squares);
        f[2 * i + 1] = (1 - rate) * f[2 * i + 1] + rate * (weight * (density * (even + along) + less));
        f[2 * i + 2] = (1 - rate) * f[2 * i + 2] + rate * (weight * (density * (even - along) + less));
    }
    store(at(cell, 0), f[0]);
#pragma unroll
    for (unsigned i = 0; i < 9; ++i) {
        store(at(next[i], odd ? 2 * i + 2 : 2 * i + 1), f[2 * i + 1]);
        store(at(cell, odd ? 2 * i + 1 : 2 * i + 2), f[2 * i + 2]);
    }
}

// Launches 0 and 1 are an even and an odd step of a box of 256 x 256 x `depth` cells.
SOLVE(Stored* densities, const unsigned char* flags, int depth) {
    step<<<kSide * kSide * depth / 64, 64>>>(densities, flags, depth, 0, 1.0f);
    step<<<kSide * kSide * depth / 64, 64>>>(densities, flags, depth, 1, 1.0f);
}
