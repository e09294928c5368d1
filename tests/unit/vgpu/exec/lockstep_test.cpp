// Lockstep code gives the results of a lane-by-lane run, byte for byte: records with times and waits, buffers, faults.
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "common/base/json.h"
#include "common/device/virtual/virtual_device.h"
#include "common/specs/machine.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/thirds.h"

namespace roofwalk {
namespace {

using test::Buffer;
using test::numbers;
using test::Runner;

constexpr int kCount = 1 << 13;

struct Case {
  const char* name;
  const char* code;    // __global__ void k(const float* a, float* b, int n)
  const char* launch;  // the launch's <<<...>>>
};

const Case kCases[] = {
    {"AffineAndUniformAddresses", R"(
__global__ void k(const float* a, float* b, int n) {
  const int row = blockIdx.x, column = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += a[row * 64 + i] * a[i * 64 + column];
  b[row * 64 + column] = sum;
})",
     "64, 64"},
    {"BlocksOfTwoRowsAWarp", R"(
__global__ void k(const float* a, float* b, int n) {
  __shared__ float tile[16][17];
  const int x = blockIdx.x % 4 * 16 + threadIdx.x, y = blockIdx.x / 4 * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = a[y * 64 + x];
  __syncthreads();
  b[(x - threadIdx.x + threadIdx.y) * 64 + y - threadIdx.y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
})",
     "16, dim3(16, 16)"},
    {"ProductsOfSharedWords", R"(
__global__ void k(const float* a, float* b, int n) {  // all pairs of factors: one word for all lanes, or adjacent words
  __shared__ float left[32][33], right[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int row = y; row < 32; row += 8) {
    left[row][x] = a[row * 32 + x];
    right[row][x] = a[2048 + row * 32 + x] - 1;
  }
  __syncthreads();
  float sums[4] = {};
  for (int i = 0; i < 32; ++i) {
    sums[0] += left[y][i] * right[i][x];
    sums[1] += right[i][x] * left[i][x];
    sums[2] += left[y][i] * left[i][y];
    sums[3] += left[i][x] * right[y][i];
    sums[i % 4] = sums[i % 4] * sums[(i + 1) % 4] + sums[(i + 2) % 4];
  }
  for (int i = 0; i < 4; ++i) b[(blockIdx.x * 4 + i) * 256 + y * 32 + x] = sums[i];
})",
     "4, dim3(32, 8)"},
    {"ProductsInRowsOfSixteen", R"(
__global__ void k(const float* a, float* b, int n) {
  __shared__ float left[16][17], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  left[y][x] = y == 3 ? 0 : a[y * 16 + x];
  right[y][x] = x == 7 ? 1.0f / 0.0f : a[n - 1 - (y * 16 + x)];  // NaN where 0 meets infinity
  __syncthreads();
  float sum = 0, other = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
#pragma unroll
  for (int i = 0; i < 16; ++i) other = left[x][i] * right[i][y] + other;
  b[y * 16 + x] = sum;
  b[256 + y * 16 + x] = other;
})",
     "1, dim3(16, 16)"},
    {"ProductsThatOthersAskFor", R"(
__global__ void k(const float* a, float* b, int n) {  // reads an intermediate sum and a loaded word; restarts the sum
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  left[y][x] = a[y * 16 + x];
  right[y][x] = a[n - 1 - (y * 16 + x)];
  __syncthreads();
  float sum = 0, third = 0, last = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (i == 9) sum = a[x];
    sum += left[y][i] * right[i][x];
    if (i == 3) third = sum;
    if (i == 15) last = right[i][x];
  }
  b[y * 16 + x] = sum + 2 * third + 3 * last;
  float other = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) other += a[y * 16 + i] * a[i * 16 + x];
  b[256 + y * 16 + x] = other;
  float walk = 0;
  const float* p = a + x;
#pragma unroll
  for (int i = 0; i < 12; ++i, p += n >> 8) walk += a[i * 32] * *p;
  b[512 + y * 16 + x] = walk + *p;
})",
     "1, dim3(16, 16)"},
    {"ProductsPastTheEndOfATile", R"(
__global__ void k(const float* a, float* b, int n) {  // in block 2, only the last product reads past the end
  __shared__ float tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = a[y * 16 + x];
  __syncthreads();
  const float* from = &tile[0][0] + (n - kCount) + (blockIdx.x == 2 ? 4 : 0);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += tile[y][i] * from[i * 16 + x];
  b[blockIdx.x * 256 + y * 16 + x] = sum;
})",
     "4, dim3(16, 16)"},
    {"ProductsOfATileThatIsNotThereYet", R"(
__global__ void k(const float* a, float* b, int n) {  // no barrier after odd t: a race, so a fault when sanitized
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < 4; ++t) {
    left[y][x] = a[t * 256 + y * 16 + x];
    right[y][x] = a[t * 256 + x * 16 + y];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
    if (t % 2 == 0) __syncthreads();
  }
  b[blockIdx.x * 256 + y * 16 + x] = sum;
})",
     "2, dim3(16, 16)"},
    {"ProductsOfWhatAnotherWarpJustWrote", R"(
__global__ void k(const float* a, float* b, int n) {  // t == 1: no barrier after rows 12 and 13; a fault when sanitized
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  left[y][x] = a[y * 16 + x];
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < 2; ++t) {
    if (t == 0 || y == 12 || y == 13) right[y][x] = a[t * 256 + 512 + y * 16 + x];
    if (t == 0) __syncthreads();
    if (y >= 14) {
#pragma unroll
      for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
    }
    __syncthreads();
  }
  b[blockIdx.x * 256 + y * 16 + x] = sum;
})",
     "2, dim3(16, 16)"},
    {"ProductsOfOverlappingRows", R"(
__global__ void k(const float* a, float* b, int n) {  // several products read the same word, each in another lane
  __shared__ float row[96], factors[32];
  const int x = threadIdx.x;
  for (int i = x; i < 96; i += 32) row[i] = a[blockIdx.x * 96 + i];
  factors[x] = a[x];
  float all = 0;
#pragma unroll 1
  for (int t = 0; t < 3; ++t) {
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += row[x + i] * factors[i];
    all += sum;
    if (t == 0) __syncthreads();  // t > 0: a race with reads of other lanes; a fault when sanitized
    row[x] = sum;
  }
  b[blockIdx.x * 32 + x] = all;
})",
     "3, 32"},
    {"ProductsOfATileWithItself", R"(
__global__ void k(const float* a, float* b, int n) {  // the fault when sanitized names the last reader and its line
  __shared__ float tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < 2; ++t) {
    for (int row = y; row < 32; row += 8) tile[row][x] = a[t * 1024 + row * 32 + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; ++i) sum += tile[y][i] * tile[i][x];
    if (y == 7) tile[6][x] = sum;
    __syncthreads();
  }
  b[y * 32 + x] = sum;
})",
     "1, dim3(32, 8)"},
    {"WhichSmItIsOn", R"(
__global__ void k(const float* a, float* b, int n) {  // an uncounted run must give each block the same SM
  unsigned sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j < (blockIdx.x & 3) * 50; ++j) sum += a[j];
  b[blockIdx.x * 32 + threadIdx.x] = sm + 1e-9f * sum;
})",
     "n / 32, 32"},
    {"AWordThatIsStoredAndKept", R"(
__global__ void k(const float* a, float* b, int n) {
  __shared__ float row[64];
  float word;
  asm volatile("{ ld.global.f32 %0, [%1]; st.shared.f32 [%2], %0; }"
               : "=f"(word) : "l"(a + threadIdx.x), "r"((unsigned)__cvta_generic_to_shared(row + threadIdx.x)));
  __syncthreads();
  b[threadIdx.x] = word + 2 * row[63 - threadIdx.x];
})",
     "1, 64"},
    {"SumsByAtomicsThatRound", R"(
__global__ void k(const float* a, float* b, int n) {  // rounding shows the order, which an uncounted run must keep
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int j = 0; j < 20; ++j) atomicAdd(&b[(i * 31 + j * 17) % 61], a[i] * 0.1f + i * 1e-4f);
})",
     "n / 256, 256"},
    {"TilesByWayOfNoRegister", R"(
__global__ void k(const float* a, float* b, int n) {  // global to shared memory; the last blocks read out of bounds
  __shared__ float tile[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int row = y; row < 32; row += 8) tile[row][x] = a[n - kCount + (blockIdx.x * 4 + row) * 32 + x];
  __syncthreads();
  for (int row = y; row < 32; row += 8) b[(blockIdx.x * 32 + row) % 256 * 32 + x] = tile[31 - row][31 - x];
})",
     "64, dim3(32, 8)"},
    {"IndicesAgainstBounds", R"(
__global__ void k(const float* a, float* b, int n) {  // bounds inside a warp, at its ends; wraparound; falling indices
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned u = i;
  int bits = 0;
  for (int bound = 0; bound < 80; bound += 5) {
    bits = bits * 3 + (i < bound) + 2 * (i >= bound) + 4 * (-i <= -bound) + 8 * (u - 40u > unsigned(bound));
    bits += 16 * (i == bound) + 32 * (2 * i != bound) + 64 * (2147483600 + bound > int(u + 2147483600u));
    bits += 128 * (a + i < a + bound);
  }
  b[i] = bits;
})",
     "2, 64"},
    {"WarpsThatAreNotWhole", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = i; j < n; j += gridDim.x * blockDim.x) b[j] = a[j] * 2 + j;
})",
     "7, 77"},
    {"ThreeDimensions", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x + blockIdx.x * 192;
  if (i < n) b[i] = a[n - 1 - i] + threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
})",
     "n / 192 + 1, dim3(8, 6, 4)"},
    {"EachThreadItsOwnNumberOfTrips", R"(
__global__ void k(const float* a, float* b, int n) {  // lanes that have left the loop keep their last pointer
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* p = a + i;
  int trips = 0;
  while (trips < (i * 7) % 23 && p < a + n) p += 32, ++trips;
  b[i] = p - a + (p < a + n ? *p : -1.0f);
})",
     "n / 256, 256"},
    {"SomeLanesLeaveEarly", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 5 == 3) return;
  float sum = 0;
  for (int j = 0; j < 20; ++j) sum += a[(i + j * 32) % n];
  b[i] = sum;
})",
     "n / 128, 128"},
    {"ApartAndTogetherAgain", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < 12; ++j) {
    int from = i + j * 32;
    if (a[i] > j % 4 - 2) from = n - 1 - i;  // varies by lane
    float step = a[from % n];
    for (int l = 0; l < 40; ++l) sum += a[(j * 40 + l) % n] * step;  // long in lockstep, so the warp may return to it
    b[i] += sum;
  }
})",
     "8, 128"},
    {"IndexThatWrapsInSomeLanes", R"(
__global__ void k(const float* a, float* b, int n) {
  const unsigned near_the_end = 0xfffffff0u + threadIdx.x + n - kCount;  // the compiler does not know n
  const unsigned long long wide = near_the_end;                          // wrapped around from thread 16 on
  const int at = 0x7ffffff8 + (int)threadIdx.x + n - kCount;
  const long long wide_signed = at;
  b[threadIdx.x] = wide;
  b[threadIdx.x + 64] = wide_signed;
  b[(unsigned)(near_the_end + 16) + 128] = a[(unsigned)(at - 0x7ffffff8)];
})",
     "1, 64"},
    {"WidenedIndexThatIsReadByLaneToo", R"(
__global__ void k(const float* a, float* b, int n) {  // `narrow` and `sum` are read by lane, too
  const unsigned narrow = 0xfffffff0u + threadIdx.x + n - kCount;
  unsigned long long wide, sum;
  asm volatile("cvt.u64.u32 %0, %2; add.u64 %1, %0, %3;" : "=l"(wide), "=l"(sum) : "r"(narrow), "l"(3ull * n));
  unsigned long long* out = reinterpret_cast<unsigned long long*>(b);
  out[threadIdx.x] = wide;
  out[threadIdx.x + 64] = sum;
  reinterpret_cast<unsigned*>(b)[threadIdx.x + 512] = narrow;
})",
     "1, 64"},
    {"ModesOfUniformIntegers", R"(
__global__ void k(const float* a, float* b, int n) {
  unsigned permuted;
  asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(permuted) : "r"(n * 0x01234567), "r"(n + 0x89abcdef), "r"(n + 1));
  b[threadIdx.x] = __ffs(n);  // bfind.shiftamt
  b[threadIdx.x + 64] = __ffsll(static_cast<long long>(n) << 20);
  reinterpret_cast<unsigned*>(b)[threadIdx.x + 128] = permuted;
})",
     "1, 64"},
    {"GuardedInSomeLanes", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 1, y = 2;
  int z = i, w = 7;
  asm volatile("{ .reg .pred p; setp.gt.f32 p, %4, 0f00000000; @p ld.global.f32 %0, [%5]; @p ld.global.f32 %1, [%6];"
               " @!p add.s32 %2, %2, 5; @p mov.u32 %3, 9; @p st.global.f32 [%7], %0; }"
               : "+f"(x), "+f"(y), "+r"(z), "+r"(w) : "f"(a[i]), "l"(a + i), "l"(a + blockIdx.x), "l"(b + i));
  b[i] += x + y + z + w;
})",
     "n / 128, 128"},
    {"GuardedInAllLanesOrNone", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int z = i, w = 7;
  for (int j = 0; j < 6; ++j) {
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %2, 3; @p add.s32 %0, %0, 32; @!p mov.u32 %1, %2; }"
                 : "+r"(z), "+r"(w) : "r"(j + (int)blockIdx.x % 2));
    b[z % n] += a[w] + z;
  }
})",
     "n / 128, 128"},
    {"ReadsWhatItJustStored", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i] * 2;
  const float same = b[i + n - kCount];  // b[i], but the compiler does not know
  b[blockIdx.x * blockDim.x] = 3;
  b[i + kCount / 2] = same + b[blockIdx.x * blockDim.x + n - kCount];
})",
     "n / 256, 128"},
    {"ChoiceOfEachLaneWhereTheyMeet", R"(
__global__ void k(const float* a, float* b, int n) {  // odd, p and step: uniform before the branch, varying after it
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool odd = blockIdx.x % 2 != 0;
  const float* p = a + blockIdx.x;
  int step = 3;
  if (a[i] > 0) {
    b[i] = 1;
    odd = !odd, p += 5, step = 4;
  }
  float sum = 0;
  for (int j = 0; j < 64; ++j) {
    sum += p[j * step];
    if (odd) sum *= 0.5f, step += 1;
  }
  b[i] += sum;
})",
     "n / 128, 128"},
    {"PredicatesThatOutliveABranch", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int z = 0, w = 0;
  asm volatile("{ .reg .pred p, q; setp.gt.f32 p, %2, 0f00000000; setp.gt.s32 q, %3, 2; @!p bra MEET;"
               " not.pred q, q; MEET: @q add.s32 %0, %0, 7; selp.b32 %1, %0, %3, q; }"
               : "+r"(z), "+r"(w) : "f"(a[i]), "r"((int)blockIdx.x));
  b[i] += z + 100 * w;
})",
     "n / 128, 128"},
    {"PointersThatWalkDown", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* p = a + n - 1 - i;
  float* q = b + i;
  for (int j = 0; j < 8; ++j, p -= 1024, q += 1024) *q = *p;
})",
     "4, 256"},
    {"WideAndNarrowElements", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 four = reinterpret_cast<const float4*>(a)[i];
  const float2 two = reinterpret_cast<const float2*>(a)[i + 1];
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(a);
  const short* halves = reinterpret_cast<const short*>(a);
  reinterpret_cast<float4*>(b)[i] = make_float4(four.x + two.x, four.y + bytes[i], four.z + halves[i], four.w + two.y);
})",
     "n / 1024, 256"},
    {"ChosenPointers", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float* p = n > 77 ? a : b;                       // one pointer for all threads
  const float* q = blockIdx.x % 2 != 0 ? a + i : a + n - 1 - i;  // uniform condition, two strides
  const float* r = threadIdx.x % 3 != 0 ? a : a + 5;     // varies by lane
  b[i] = p[i] + *q + r[i % 100] + (i + 1 < n ? a[i + 1] : 0.0f);
})",
     "n / 128, 128"},
    {"SharedRows", R"(
__global__ void k(const float* a, float* b, int n) {
  __shared__ float s[33 * 32];
  for (int row = threadIdx.x / 32; row < 32; row += blockDim.x / 32) s[row * 33 + threadIdx.x % 32] = a[row * 32 + threadIdx.x % 32];
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = 0;
  for (int j = 0; j < 32; ++j) sum += s[lane * 33 + j] * s[warp * 33 + j] + s[j * 33];
  b[blockIdx.x * blockDim.x + threadIdx.x] = sum;
})",
     "8, 128"},
    {"OutOfBoundsInOneLane", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i + 7];
})",
     "n / 256, 256"},
    {"SharedOutOfBounds", R"(
__global__ void k(const float* a, float* b, int n) {
  __shared__ float s[128];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int j = 0; j < n; j += 3) b[threadIdx.x] = s[threadIdx.x + j];
})",
     "1, 128"},
    {"MisalignedInEveryLane", R"(
__global__ void k(const float* a, float* b, int n) {
  const int i = threadIdx.x;
  b[i] = reinterpret_cast<const float2*>(a + n % 2 + 1)[i].x;
})",
     "1, 32"},
};

struct Outcome {
  std::string record;
  bool has_fault = false;
  std::vector<std::vector<float>> buffers;
};

// Runs the kernel with buffers of these sizes, then numbers, as arguments.
Outcome run(const Artifact& artifact, const std::vector<int>& sizes, const std::vector<Runner::Argument>& numbers_,
            const RunOptions& options, Runner runner = Runner()) {
  std::vector<Buffer> buffers;
  for (const int size : sizes)
    buffers.push_back(
        {fmt::format("buffer {}", buffers.size()), numbers(size, 5 + 2 * static_cast<int>(buffers.size()))});
  std::vector<Runner::Argument> arguments;
  for (Buffer& buffer : buffers) arguments.emplace_back(&buffer);
  arguments.insert(arguments.end(), numbers_.begin(), numbers_.end());
  const auto record = runner.run(artifact, arguments, options);
  EXPECT_TRUE(record.ok()) << (record ? "" : record.error().text());
  Outcome out{json_line(to_json(*record)), record->fault.has_value(), {}};
  for (Buffer& buffer : buffers) out.buffers.push_back(std::move(buffer.values));
  return out;
}

void expect_the_same(const std::vector<std::vector<float>>& got, const std::vector<std::vector<float>>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i)  // bitwise: NaN is not equal to itself
    EXPECT_EQ(std::memcmp(got[i].data(), wanted[i].data(), 4 * wanted[i].size()), 0) << "buffer " << i;
}

// Compares lockstep with a lane-by-lane run in four modes, which have handlers of their own: counted, traced, sanitized
// and uncounted. Without a fault, an uncounted run must leave the same memory as a counted one.
void expect_the_same(const Artifact& artifact, const std::vector<int>& sizes,
                     const std::vector<Runner::Argument>& numbers_) {
  RunOptions counted, traced, sanitized, uncounted;
  counted.time = sanitized.time = RunOptions::Time::least;
  traced.time = RunOptions::Time::whole_clock;
  sanitized.sanitize = true;
  uncounted.figures = RunOptions::Figures::none;
  std::optional<Outcome> first;
  for (RunOptions options : {counted, traced, sanitized, uncounted}) {
    options.max_work = 300'000'000;
    options.lockstep = false;
    const Outcome wanted = run(artifact, sizes, numbers_, options);
    options.lockstep = true;
    const Outcome got = run(artifact, sizes, numbers_, options);
    EXPECT_EQ(got.record, wanted.record);
    expect_the_same(got.buffers, wanted.buffers);
    if (!first) first = got;
    if (options.figures == RunOptions::Figures::none && !got.has_fault) expect_the_same(got.buffers, first->buffers);
  }
}

std::string text_of(const Case& each) {
  return fmt::format(
      "#include <roofwalk.cuh>\nconstexpr int kCount = {};\n{}\nSOLVE(const float* a, float* b, int n) {{ "
      "k<<<{}>>>(a, b, n); }}\n",
      kCount, each.code, each.launch);
}
const bool kCasesJoined = test::join(test::map_to_text(kCases, text_of));

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

class LockstepOf : public testing::TestWithParam<Case> {};

TEST_P(LockstepOf, LeavesWhatALaneByLaneRunLeaves) {
  const test::JointKernel& joint = *test::find_joint(text_of(GetParam()));
  const auto artifact = test::compile(*joint.text);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  expect_the_same(*artifact, {kCount, kCount}, {kCount, joint.number});
}

INSTANTIATE_TEST_SUITE_P(Kernels, LockstepOf, testing::ValuesIn(test::every_third(kCases)),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(LongKernels, LockstepOf, testing::ValuesIn(test::all_but_every_third(kCases)),
                         [](const auto& each) { return each.param.name; });

void expect_the_same_of_chapter(const std::string& chapter, const std::vector<int>& sizes,
                                const std::vector<Runner::Argument>& numbers_) {
  for (const std::string& file : test::kernels_of(chapter)) {
    SCOPED_TRACE(file);
    const auto artifact = test::compile(test::text_of(file));
    ASSERT_TRUE(artifact.ok()) << artifact.error().text();
    expect_the_same(*artifact, sizes, numbers_);
  }
}

// A kernel slightly over its budget is stopped before it ends, also in an uncounted run, where a block runs as far as
// it can.
TEST(VirtualGpu, EndsByItsBudgetWhateverIsCounted) {
  const auto artifact = test::compile(R"(
#include <roofwalk.cuh>
__global__ void k(float* b, int n) {
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) sum = sum * 1.5f + i;
  b[threadIdx.x] = sum;
}
SOLVE(float* b, int n) { k<<<8, 32>>>(b, n); }
)");
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  for (const auto figures : {RunOptions::Figures::all, RunOptions::Figures::none}) {
    Buffer b{"b", numbers(32)};
    const RunOptions options{.max_work = 4000, .time = RunOptions::Time::least, .figures = figures};
    const auto record = Runner().run(*artifact, {&b, 300}, options);
    ASSERT_TRUE(record.ok());
    ASSERT_TRUE(record->fault.has_value());
    EXPECT_EQ(record->fault->kind, FaultKind::runaway);
  }
}

// The products access more lines than a round's log holds, so rounds end between a product's two loads and after them.
TEST(Lockstep, TurnsThatEndAmongProducts) {
  constexpr int kThreads = 1024, kProducts = 1040;
  const auto artifact = test::compile(fmt::format(R"(
#include <roofwalk.cuh>
template <bool odd>  // odd: reads two lines of b before the products, which moves the ends of rounds
__global__ void k(const float* a, float* b) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = odd && i < 64 ? b[i] : 0;
#pragma unroll
  for (int p = 0; p < {0}; ++p) sum += a[2 * p * {1} + i + 8] * a[(2 * p + 1) * {1} + i + 8];  // two lines per load
  b[i + (odd ? {1} : 0)] = sum;
}}
SOLVE(const float* a, float* b) {{ k<false><<<1, 1024>>>(a, b), k<true><<<1, 1024>>>(a, b); }}
)",
                                                  kProducts, kThreads));
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  Machine machine = *load_machine("classroom");
  machine.sms = 1;
  Outcome outcomes[2];
  for (const bool lockstep : {false, true}) {
    const RunOptions options{.lockstep = lockstep, .time = RunOptions::Time::least};
    outcomes[lockstep ? 1 : 0] =
        run(*artifact, {2 * kProducts * kThreads + 8, 2 * kThreads}, {}, options, Runner(make_virtual_device(machine)));
  }
  EXPECT_EQ(outcomes[1].record, outcomes[0].record);
  expect_the_same(outcomes[1].buffers, outcomes[0].buffers);
}

// Tests sizes with only whole tiles and rows, and sizes with partial ones.
TEST(Lockstep, LeavesTheSameOfEveryStarterAndStep) {
  for (const int n : {1 << 14, 12345}) expect_the_same_of_chapter("01-vector-add", {n, n, n}, {n});
  for (const char* chapter : {"02-naive-gemm", "03-tiled-gemm", "04-pipelined-gemm"}) {
    for (const int n : {128, 75}) expect_the_same_of_chapter(chapter, {n * n, n * n, n * n}, {n, n, n});
  }
  for (const int columns : {1024, 333})
    expect_the_same_of_chapter("05-fused-layernorm", {64 * columns, columns, columns, 64 * columns},
                               {64, columns, 1e-5f});
}

}  // namespace
}  // namespace roofwalk
