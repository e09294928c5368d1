// No result of a run depends on the number of host threads: records, waits and buffers are equal, byte for byte.
#include <fmt/format.h>

#include "common/base/json.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/thirds.h"

namespace roofwalk {
namespace {

using test::Buffer;
using test::numbers;
using test::Runner;

constexpr int kCount = 1 << 14;

struct Case {
  const char* name;
  const char* code;        // the kernel void k(const float* a, float* b, int n)
  const char* launch;      // its launch configuration <<<...>>>
  const char* fault = "";  // beginning of the fault's message, if any
};

const Case kCases[] = {
    {"VectorAdd", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] += a[i];
})",
     "n / 256, 256"},
    {"NaiveProduct", R"(
__global__ void k(const float* a, float* b, int n) {  // 128 x 128; a warp's lanes read 32 rows, 512 bytes apart
  const int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < 128; ++i) sum += a[row * 128 + i] * a[i * 128 + column];
  b[row * 128 + column] = sum;
})",
     "dim3(4, 16), dim3(32, 8)"},
    {"TiledProduct", R"(
__global__ void k(const float* a, float* b, int n) {
  __shared__ float x[16][16], y[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < 128; t += 16) {
    x[threadIdx.y][threadIdx.x] = a[row * 128 + t + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = a[(t + threadIdx.y) * 128 + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += x[threadIdx.y][i] * y[i][threadIdx.x];
    __syncthreads();
  }
  b[row * 128 + column] = sum;
})",
     "dim3(8, 8), dim3(16, 16)"},
    {"Divergent", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < i % 37; ++j) sum += j % 3 == i % 3 ? a[(i * 7 + j * 97) % n] : -a[j];
  b[i] = sum;
})",
     "n / 128, 128"},
    {"InPlaceWithBarriers", R"(
__global__ void k(const float* a, float* b, int n) {  // threads read what other threads of their block stored
  const int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  b[i] = a[i];
  for (int step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    const float other = b[first + (threadIdx.x ^ step)];
    __syncthreads();
    b[i] += other;
  }
})",
     "n / 128, 128"},
    {"Histogram", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < 40; ++j) atomicAdd(&b[(i * 31 + j * 17) % 61], a[i] * 0.1f + i * 1e-4f);  // sums depend on order
})",
     "n / 256, 256"},
    {"Racy", R"(
__global__ void k(const float* a, float* b, int n) {  // reads what blocks on other SMs store at the same time
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 1; j < 40; ++j) b[i] = b[(i + j * 384) % n] * 0.5f + a[i];
})",
     "n / 128, 128"},
    {"RacyStores", R"(
__global__ void k(const float* a, float* b, int n) {  // SMs store to the same places
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 1; j < 40; ++j) b[(i * j) % 509] = a[i] + j;
})",
     "n / 128, 128"},
    {"FaultsOnManySms", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < 64; ++j) b[i] = sum += a[i + (j == 40 + blockIdx.x % 3 ? n * 4 : 0)];
})",
     "n / 256, 256", "out of bounds"},
    {"Runaway", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i];
  while (x != 1e9f) x = x * 0.5f + 1;
  b[i] = x;
})",
     "n / 256, 256", "runs too long"},
};

std::string text_of_case(const Case& each) {
  return fmt::format("#include <roofwalk.cuh>\n{}\nSOLVE(const float* a, float* b, int n) {{ k<<<{}>>>(a, b, n); }}\n",
                     each.code, each.launch);
}
const bool kCasesJoined = test::join(test::map_to_text(kCases, text_of_case));

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class Threads : public testing::TestWithParam<Case> {};

void expect_the_same(const Case& each, RunOptions options) {
  const test::JointKernel& joint = *test::find_joint(text_of_case(each));
  const auto artifact = test::compile(*joint.text);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  std::string wanted;
  std::vector<float> wanted_values;
  for (const int threads : {1, 2, 3, 8, 0}) {
    Buffer a{"a", numbers(kCount)}, b{"b", numbers(kCount, 5)};
    options.max_work = 25'000'000;
    options.threads = threads;
    const auto record = Runner().run(*artifact, {&a, &b, kCount, joint.number}, options);
    ASSERT_TRUE(record.ok()) << record.error().text();
    const std::string got = json_line(to_json(*record));
    if (threads == 1) {
      wanted = got;
      wanted_values = b.values;
      ASSERT_EQ(record->fault.has_value(), *each.fault != 0) << got;
      if (record->fault) {
        EXPECT_THAT(record->fault->message, testing::StartsWith(each.fault));
      }
    }
    EXPECT_EQ(got, wanted) << threads << " threads";
    EXPECT_EQ(b.values, wanted_values) << threads << " threads";
  }
}

TEST_P(Threads, LeaveTheSameToTheByte) { expect_the_same(GetParam(), {.time = RunOptions::Time::whole_clock}); }
TEST_P(Threads, LeaveTheSameWhereMemoryIsNotCounted) {
  expect_the_same(GetParam(), {.figures = RunOptions::Figures::none});
}

INSTANTIATE_TEST_SUITE_P(Kernels, Threads, testing::ValuesIn(test::every_third(kCases)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongKernels, Threads, testing::ValuesIn(test::all_but_every_third(kCases)),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace roofwalk
