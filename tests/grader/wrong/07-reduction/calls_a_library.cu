// verdict: refused, solve cannot call cuda
// The library's call is not an answer to the chapter.
#include <cub/device/device_reduce.cuh>
#include <roofwalk.cuh>

SOLVE(const float* x, float* sum, int n) {
    size_t bytes = 0;
    cub::DeviceReduce::Sum(nullptr, bytes, x, sum, n);
    cub::DeviceReduce::Sum(scratch<char>(bytes), bytes, x, sum, n);
}
