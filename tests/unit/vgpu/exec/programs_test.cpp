// Whole kernels that exercise the virtual GPU: divergence, shuffles, atomics, histogram, transpose, layernorm, math.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/support/kernel_runner.h"

namespace roofwalk::test {
namespace {

TEST(Programs, ReductionWithShufflesAndAtomics) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void sum(const float* x, float* y, int n) {
  __shared__ float part[8];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int d = 4; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x == 0) atomicAdd(y, v);
  }
}
SOLVE(const float* x, float* y, int n) { cudaMemsetAsync(y, 0, 4); sum<<<10, 256>>>(x, y, n); }
)");
  for (const int n : {1, 31, 1000, 50'001}) {
    Buffer x{"x", numbers(static_cast<std::size_t>(n))}, y{"y", {99}};
    const auto record = Runner().run(kText, {&x, &y, n});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->message;
    EXPECT_EQ(y.values[0], std::accumulate(x.values.begin(), x.values.end(), 0.0f)) << n;
    EXPECT_EQ(*record->counters[Counter::atomic_requests], 10u);
  }
}

// nvcc reads a struct that it indexes at run time by an address: ld.param through a register.
TEST(Programs, IndexesAStructThatIsAParameter) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
struct Taps { float of[16]; };
__global__ void filter(const __grid_constant__ Taps taps, const float* x, float* y, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < rounds; ++j) sum += x[i] * taps.of[(i + j) & 15];
  y[i] = sum;
}
SOLVE(const float* x, float* y, int n) {
  Taps one, two;
  for (int i = 0; i < 16; ++i) { one.of[i] = i; two.of[i] = 2 * i; }
  filter<<<2, 64>>>(one, x, y, n, 3);
  filter<<<2, 64>>>(two, x, y + n, n, 3);
}
)");
  constexpr int n = 100;
  Buffer x{"x", numbers(n, 7)}, y{"y", std::vector<float>(2 * n)};
  const auto record = Runner().run(kText, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int i = 0; i < n; ++i) {
    float taps = 0;
    for (int j = 0; j < 3; ++j) taps += static_cast<float>((i + j) & 15);
    const float x_i = x.values[static_cast<std::size_t>(i)];
    EXPECT_EQ(y.values[static_cast<std::size_t>(i)], x_i * taps) << i;
    EXPECT_EQ(y.values[static_cast<std::size_t>(n + i)], 2 * x_i * taps) << i;
  }
  EXPECT_GT(*record->counters[Counter::constant_requests], 0u);
}

TEST(Programs, HistogramWithSharedAtomics) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void histogram(const float* x, float* counts, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[(int)x[i] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], (float)bins[threadIdx.x]);
}
SOLVE(const float* x, float* counts, int n) { cudaMemsetAsync(counts, 0, 64); histogram<<<4, 128>>>(x, counts, n); }
)");
  constexpr int n = 5003;
  Buffer x{"x", numbers(n, 13)}, counts{"counts", std::vector<float>(16)};
  const auto record = Runner().run(kText, {&x, &counts, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  std::vector<float> expected(16);
  for (const float v : x.values) ++expected[static_cast<int>(v) & 15];
  EXPECT_EQ(counts.values, expected);
}

TEST(Programs, TransposeThroughSharedMemory) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
SOLVE(const float* in, float* out, int rows, int cols) {
  transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(in, out, rows, cols);
}
)");
  constexpr int rows = 70, cols = 45;
  Buffer in{"in", numbers(rows * cols, 101)}, out{"out", std::vector<float>(rows * cols)};
  const auto record = Runner().run(kText, {&in, &out, rows, cols});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) ASSERT_EQ(out.values[c * rows + r], in.values[r * cols + c]);
  }
  EXPECT_EQ(*record->counters[Counter::shared_bank_conflicts], 0u);
}

TEST(Programs, LayernormIsAccurate) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void layernorm(const float* x, float* y, int cols, float epsilon) {
  __shared__ float part[32];
  const float* row = x + blockIdx.x * cols;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += row[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  const float mean = sum / cols;
  for (int i = threadIdx.x; i < cols; i += 32) { float d = row[i] - mean; squares += d * d; }
  part[threadIdx.x] = squares;
  __syncwarp();
  float total = 0;
  for (int i = 0; i < 32; ++i) total += part[i];
  const float scale = rsqrtf(total / cols + epsilon);
  for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = (row[i] - mean) * scale;
}
SOLVE(const float* x, float* y, int rows, int cols, float epsilon) { layernorm<<<rows, 32>>>(x, y, cols, epsilon); }
)");
  constexpr int rows = 5, cols = 77;
  Buffer x{"x", numbers(rows * cols, 97)}, y{"y", std::vector<float>(rows * cols)};
  const auto record = Runner().run(kText, {&x, &y, rows, cols, 1e-5f});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; ++c) mean += x.values[r * cols + c] / cols;
    for (int c = 0; c < cols; ++c) variance += std::pow(x.values[r * cols + c] - mean, 2) / cols;
    for (int c = 0; c < cols; ++c) {
      ASSERT_NEAR(y.values[r * cols + c], (x.values[r * cols + c] - mean) / std::sqrt(variance + 1e-5), 3e-6);
    }
  }
}

TEST(Programs, NestedDivergenceAndLoopsOfDifferentLength) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void walk(float* y, int n) {
  int i = threadIdx.x, steps = 0, v = i + 1;
  if (i >= n) return;
  while (v != 1) {
    if (v % 2 == 0) v /= 2;
    else { v = 3 * v + 1; if (v > 1000) { ++steps; } }
    ++steps;
    if (steps > 50) break;
  }
  y[i] = steps;
}
SOLVE(float* y, int n) { walk<<<1, 160>>>(y, n); }
)");
  constexpr int n = 150;
  Buffer y{"y", std::vector<float>(n)};
  const auto record = Runner().run(kText, {&y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int i = 0; i < n; ++i) {
    int steps = 0, v = i + 1;
    while (v != 1) {
      if (v % 2 == 0) {
        v /= 2;
      } else {
        v = 3 * v + 1;
        if (v > 1000) ++steps;
      }
      if (++steps > 50) break;
    }
    ASSERT_EQ(y.values[i], static_cast<float>(steps)) << i;
  }
  EXPECT_GT(*record->counters[Counter::divergent_branches], 0u);
}

TEST(Programs, MathFunctionsAreAccurate) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void math(const float* x, float* y, int n) {
  int i = threadIdx.x;
  y[i] = expf(x[i]); y[n + i] = logf(x[i] + 4); y[2 * n + i] = sinf(x[i]); y[3 * n + i] = sqrtf(x[i] + 4);
  y[4 * n + i] = 1 / (x[i] + 4); y[5 * n + i] = __expf(x[i]); y[6 * n + i] = tanhf(x[i]); y[7 * n + i] = rsqrtf(x[i] + 4);
  y[8 * n + i] = fminf(x[i], 0) + fmaxf(x[i], 1) + fabsf(x[i]) + floorf(x[i]) + truncf(x[i]) + rintf(x[i]);
  y[9 * n + i] = __cosf(x[i]);
}
SOLVE(const float* x, float* y, int n) { math<<<1, n>>>(x, y, n); }
)");
  constexpr int n = 61;
  Buffer x{"x", {}}, y{"y", std::vector<float>(10 * n)};
  for (int i = 0; i < n; ++i) x.values.push_back(-3.0f + 0.1f * static_cast<float>(i));
  const auto record = Runner().run(kText, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int i = 0; i < n; ++i) {
    const double v = x.values[i], shifted = x.values[i] + 4.0f;
    const double expected[] = {
        std::exp(v),
        std::log(shifted),
        std::sin(v),
        std::sqrt(shifted),
        1 / shifted,
        std::exp(v),
        std::tanh(v),
        1 / std::sqrt(shifted),
        std::fmin(v, 0) + std::fmax(v, 1) + std::fabs(v) + std::floor(v) + std::trunc(v) + std::nearbyint(v),
        std::cos(v)};
    for (int f = 0; f < 10; ++f) {
      ASSERT_NEAR(y.values[f * n + i], expected[f], 3e-6 * std::max(1.0, std::fabs(expected[f]))) << f << " at " << v;
    }
  }
}

TEST(Programs, ConstantGlobalAndLocalMemory) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__constant__ float weights[4] = {1, 2, 4, 8};
__device__ int calls = 5;
__global__ void mix(const float* x, float* y, int n) {
  float window[8];
  for (int i = 0; i < 8; ++i) window[i] = x[(threadIdx.x + i) % n];
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += weights[i] * window[(int)x[i] & 7];
  y[threadIdx.x] = sum + calls;
}
SOLVE(const float* x, float* y, int n) { mix<<<1, n>>>(x, y, n); }
)");
  constexpr int n = 40;
  Buffer x{"x", numbers(n)}, y{"y", std::vector<float>(n)};
  const auto record = Runner().run(kText, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int t = 0; t < n; ++t) {
    float sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += static_cast<float>(1 << i) * x.values[(t + (static_cast<int>(x.values[i]) & 7)) % n];
    ASSERT_EQ(y.values[t], sum + 5) << t;
  }
}

TEST(Programs, VectorLoadsAndStoresOfEveryShape) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void copy(const float* x, float* y, int n) {
  const float4* x4 = (const float4*)x;
  float4* y4 = (float4*)y;
  int i = threadIdx.x;
  if (i < n / 4) y4[i] = x4[i];                            // contiguous, then a partial warp
  float4 one = x4[n % 4];                                  // uniform
  float2 pair = ((const float2*)x)[i * 7 % (n / 2)];       // scattered
  y[n + i] = one.x + one.w * pair.x - pair.y;
  y[n + 64 + i] = ((const short*)x)[i * 2 + 1] + ((const unsigned char*)x)[i * 4 + 3] + ((const double*)x)[3] * 0;
}
SOLVE(const float* x, float* y, int n) { copy<<<1, 64>>>(x, y, n); }
)");
  constexpr int n = 180;
  Buffer x{"x", numbers(n)}, y{"y", std::vector<float>(n + 128)};
  const auto record = Runner().run(kText, {&x, &y, n});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  for (int i = 0; i < n; ++i) ASSERT_EQ(y.values[i], x.values[i]) << i;
  for (int i = 0; i < 64; ++i) {
    const int at = i * 7 % (n / 2) * 2;
    ASSERT_EQ(y.values[n + i], x.values[0] + x.values[3] * x.values[at] - x.values[at + 1]) << i;
    const auto bits = std::bit_cast<std::uint32_t>(x.values[i]);
    const auto high = static_cast<std::int16_t>(bits >> 16);
    ASSERT_EQ(y.values[n + 64 + i], static_cast<float>(high + static_cast<int>(bits >> 24))) << i;
  }
}

TEST(Programs, VotesAndIntegerArithmetic) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void votes(const float* x, float* y, int n) {
  int i = threadIdx.x, v = (int)x[i];
  unsigned ballot = __ballot_sync(~0u, v > 0);
  int all = __all_sync(~0u, v > -100), any = __any_sync(~0u, v == 3);
  y[i] = __popc(ballot) + 100 * all + 1000 * any;
  y[32 + i] = v / 3 + v % 3 * 100 + (v >> 1) + (v << 2) + __clz(v) + __mulhi(v, 1 << 30) + min(v, 1) + max(v, -1) + (v ^ 5);
}
SOLVE(const float* x, float* y, int n) { votes<<<1, 32>>>(x, y, n); }
)");
  Buffer x{"x", numbers(32)}, y{"y", std::vector<float>(64)};
  const auto record = Runner().run(kText, {&x, &y, 32});
  ASSERT_TRUE(record.ok()) << record.error().text();
  ASSERT_FALSE(record->fault) << record->fault->message;
  int positive = 0;
  for (const float v : x.values) positive += v > 0;
  for (int i = 0; i < 32; ++i) {
    const int v = static_cast<int>(x.values[i]);
    ASSERT_EQ(y.values[i], static_cast<float>(positive + 1100));
    const int clz = v == 0 ? 32 : __builtin_clz(static_cast<unsigned>(v));
    const auto high = static_cast<int>((static_cast<long long>(v) << 30) >> 32);
    const int expected =
        v / 3 + v % 3 * 100 + (v >> 1) + v * 4 + clz + high + std::min(v, 1) + std::max(v, -1) + (v ^ 5);
    ASSERT_EQ(y.values[32 + i], static_cast<float>(expected)) << v;
  }
}

// Buffers of equal size are equally far apart, so the lanes' addresses have a constant stride although each lane reads
// a buffer of its own. The load must not be taken for an access to a single buffer.
TEST(Programs, EachLaneReadsABufferOfItsOwn) {
  const std::string& kText = JOINT(R"(#include <roofwalk.cuh>
__global__ void pick(const float* const* rows, float* y) { y[threadIdx.x] = rows[threadIdx.x][8]; }
SOLVE(const float* const* rows, float* y, int n) { pick<<<1, 32>>>(rows, y); }
)");
  for (const bool sanitize : {true, false}) {
    Runner runner;
    Buffer rows{"rows", std::vector<float>(64)}, y{"y", std::vector<float>(32)};
    for (std::size_t l = 0; l < 32; ++l) {
      const auto row = runner.device().allocate("row " + std::to_string(l), 4096, 4);
      ASSERT_TRUE(row.ok()) << row.error().text();
      const auto value = std::bit_cast<std::array<std::uint8_t, 4>>(static_cast<float>(l));
      runner.device().write(*row, 8 * 4, value);
      std::memcpy(&rows.values[2 * l], &row->address, sizeof row->address);
    }
    const auto record = runner.run(kText, {&rows, &y, 32}, {.sanitize = sanitize});
    ASSERT_TRUE(record.ok()) << record.error().text();
    ASSERT_FALSE(record->fault) << record->fault->message;
    for (std::size_t l = 0; l < 32; ++l) EXPECT_EQ(y.values[l], static_cast<float>(l));
  }
}

}  // namespace
}  // namespace roofwalk::test
