// sparse-rows: y = a x, where a is a sparse matrix with n rows and n columns. Only its `nonzeros` elements are stored, row
// after row: element i has the value values[i] and lies in column columns[i]. Row r has the elements from row_starts[r] up
// to, and without, row_starts[r + 1]. Some rows have none.
//
// This is correct, and slow. Change what you like between the two lines below, the launches included; only the
// parameters of SOLVE stay as they are. n can be any positive number.
#include <roofwalk.cuh>

// ---- yours from here ------------------------------------------------------------------------------------------------

// A row for each thread.
__global__ void multiply(const int* row_starts, const int* columns, const float* values, const float* x, float* y,
                         int n) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const int end = row_starts[row + 1];
    float sum = 0.0f;
    for (int i = row_starts[row]; i < end; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
}

SOLVE(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int n, int nonzeros) {
    multiply<<<ceil_div(n, 256), 256>>>(row_starts, columns, values, x, y, n);
}

// ---- to here --------------------------------------------------------------------------------------------------------
