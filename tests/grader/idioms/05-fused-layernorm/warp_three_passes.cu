// grade: none
// on rtx4090: ace
// One warp takes a row and reads it three times; cooperative groups add up the lanes' sums.
#include <roofwalk.cuh>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;  // rows per block

__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols,
                          float epsilon) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int row = blockIdx.x * kWarps + warp.meta_group_rank();
    if (row >= rows) return;  // the whole warp leaves
    const float* in = x + static_cast<size_t>(row) * cols;
    float* out = y + static_cast<size_t>(row) * cols;
    const int lane = warp.thread_rank();

    float sum = 0.0f;
    for (int c = lane; c < cols; c += 32) sum += in[c];
    const float mean = cg::reduce(warp, sum, cg::plus<float>()) / cols;

    float squares = 0.0f;
    for (int c = lane; c < cols; c += 32) {
        const float d = in[c] - mean;
        squares += d * d;
    }
    const float scale = rsqrtf(cg::reduce(warp, squares, cg::plus<float>()) / cols + epsilon);

    for (int c = lane; c < cols; c += 32) out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}

SOLVE(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols, float epsilon) {
    layernorm<<<ceil_div(rows, kWarps), kThreads>>>(x, gamma, beta, y, rows, cols, epsilon);
}
