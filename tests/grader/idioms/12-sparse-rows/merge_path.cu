// grade: ace
// Merrill and Garland: rows' ends and elements are merged like two sorted lists, and each thread takes as many steps of
// that merge. Products and rows' ends come through shared memory; what a thread leaves of an unfinished row is added to y.
#include <roofwalk.cuh>

constexpr int kThreads = 128, kItems = 8;
constexpr int kTile = kThreads * kItems;

// How many of the first `diagonal` steps are ends of rows. ends[r]: where row r ends; elements are 0, 1, 2 ...
__device__ int rows_on(const int* ends, int rows, int elements, int diagonal, int first_element) {
    int low = max(diagonal - elements, 0), high = min(diagonal, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] <= first_element + diagonal - middle - 1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__global__ void find_tiles(const int* ends, int* tile_rows, int n, int nonzeros, int tiles) {
    const int tile = blockIdx.x * kThreads + threadIdx.x;
    if (tile > tiles) return;
    tile_rows[tile] = rows_on(ends, n, nonzeros, min(tile * kTile, n + nonzeros), 0);
}

__global__ void multiply(const int* ends, const int* columns, const float* values, const float* x, float* y,
                         const int* tile_rows, int n, int nonzeros) {
    __shared__ float products[kTile];
    __shared__ int row_ends[kTile + 1];
    const int begin = blockIdx.x * kTile, end = min(begin + kTile, n + nonzeros);
    const int row0 = tile_rows[blockIdx.x], rows = tile_rows[blockIdx.x + 1] - row0;
    const int first = begin - row0, elements = end - begin - rows;
    for (int j = threadIdx.x; j < elements; j += kThreads) products[j] = values[first + j] * x[columns[first + j]];
    for (int r = threadIdx.x; r <= rows; r += kThreads) row_ends[r] = row0 + r < n ? ends[row0 + r] : nonzeros;
    __syncthreads();

    const int diagonal = min(static_cast<int>(threadIdx.x) * kItems, rows + elements);
    const int steps = min(kItems, rows + elements - diagonal);
    int row = rows_on(row_ends, rows, elements, diagonal, first), element = diagonal - row;
    float sum = 0.0f;
    bool is_whole = false;  // whether the thread has the row from its beginning
    for (int step = 0; step < steps; ++step) {
        if (row == rows || first + element < row_ends[row]) {
            sum += products[element++];
        } else {
            if (is_whole) {
                y[row0 + row] = sum;
            } else {
                atomicAdd(&y[row0 + row], sum);
            }
            sum = 0.0f;
            is_whole = true;
            ++row;
        }
    }
    if (sum != 0.0f) atomicAdd(&y[row0 + row], sum);
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    const int tiles = ceil_div(n + nonzeros, kTile);
    int* tile_rows = scratch<int>(tiles + 1);
    cudaMemsetAsync(y, 0, n * sizeof(float));
    find_tiles<<<ceil_div(tiles + 1, kThreads), kThreads>>>(row_starts + 1, tile_rows, n, nonzeros, tiles);
    multiply<<<tiles, kThreads>>>(row_starts + 1, columns, values, x, y, tile_rows, n, nonzeros);
}
