// library CUB (DeviceHistogram::HistogramEven): right x3.468 (l2), up x12.82
// on a100-80/8: up x14.41
// on h100-sxm/8: up x13.01
// on rtx4090/8: up x4.525
//
// What CUB, the library of the CUDA toolkit, does with this task: its call, its launches, its kernels, with the sizes
// that it was tuned for on this chip. `./roofwalk plot histogram --library` draws its dot beside yours.
#include <cub/device/device_histogram.cuh>
#include <roofwalk.cuh>

constexpr int kBins = 256;

SOLVE(const int* keys, int* counts, int n) {
    size_t bytes = 0;
    const auto count = [&](void* memory) {  // bins of one key each, from 0 to below 256
        cub::DeviceHistogram::HistogramEven(memory, bytes, keys, counts, kBins + 1, 0, kBins, n);
    };
    count(nullptr);  // how much memory it wants
    count(scratch<char>(bytes));
}
